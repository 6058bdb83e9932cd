"""Event-condition-action programs: the sequential problems of the RERS challenge in C.

In comes the text of a program, out a network of one component: the program's reduced
states, with an action for every input and output.  Runs come back by the program's
interpreter.  Read `program` first, then `syntax`, `rules`, `liveness`, `enumeration`
and `system`, in this order.
"""
