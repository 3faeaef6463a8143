"""Write-back: each Instance of a cell, copied to the hub."""
