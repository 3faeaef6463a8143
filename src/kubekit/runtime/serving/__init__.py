"""The HTTP servers of a process of controllers: webhooks, metrics and probes.

`webhook_server`, `metrics_server` and `probes` are handlers above `http_server`. A `ServerTls` gives
the certificate: `tls_files`, `tls_secret` or `self_signed`. `listen_address` reads addresses in the
form of Go.
"""
