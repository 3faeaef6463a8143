"""What commands print: tables, documents in JSON and YAML, and text for a terminal.

formats    the values of ``-o``, and documents in each of them
tables     columns of text
terminal   whether there is a terminal, how wide it is, and colours
phrases    ages, counts and bars as people read them
"""
