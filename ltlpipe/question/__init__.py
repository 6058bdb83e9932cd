"""Questions: options, the question with the facts that strategies share, answers.

A system, a property and options come in; a `Question` goes out, of which strategies ask
facts (the automaton, whether the property is interruptible, the trimmed network).  Each
fact is found once, by a job that all share.  Read `question` first, then `answer`.
"""
