"""Service accounts and their tokens, and reviews of tokens and users.

Start reading at `service_accounts`.
"""
