"""Objects as rows of a table (meta.k8s.io Table), for clients that print them."""
