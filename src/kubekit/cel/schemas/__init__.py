"""The validation rules of structural schemas."""
