"""Sequence charts of lassos: a lifeline per component, a row per step.

In comes a `ltlpipe.Lasso`; out goes a picture, as SVG or as text.  What is in the
picture is decided once (`sequence`), whatever it is drawn with (`svg_chart`,
`text_chart`).  Read `sequence` first, then `chart`, the public class.
"""
