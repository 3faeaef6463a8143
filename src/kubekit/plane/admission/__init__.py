"""Who else has a say in the changes of one plane: webhooks, and the plane's quota."""
