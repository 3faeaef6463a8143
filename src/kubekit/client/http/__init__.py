"""The transport over a socket: HTTP/1.1 to any Kubernetes API server.

`transport` has the verbs, and `calls` sends their requests with `retries`, over the `connections` of a
`connection_pool`. `client` is the typed client, and `watch_streams` splits the stream of a watch.
"""
