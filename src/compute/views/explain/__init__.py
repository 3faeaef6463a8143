"""What words and fields mean, and why an object does not run.

glossary       reasons and types of conditions
field_docs     fields of objects, from the schemas
explanations   why an object does not run, read from the project
"""
