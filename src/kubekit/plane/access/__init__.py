"""Role-based access control: rules, bindings, and access reviews."""
