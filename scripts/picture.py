"""Make docs/images/report.png anew: the report of README.md's run, in a browser.

python scripts/picture.py (needs Chromium, chromedriver and Selenium)
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.browser import chromium, missing, opened  # noqa: E402

PICTURE = ROOT / "docs" / "images" / "report.png"
WIDTH, HEIGHT = 1200, 1060
TASKS = "examples/problems"


def report(folder: Path) -> Path:
    """Return the page about the problems that come with the project."""
    page = folder / "report.html"
    files = ["--out", str(folder / "results.csv"), "--report", str(page)]
    command = [sys.executable, "-m", "ltlpipe", "solve", TASKS, "--quiet", *files]
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode != 1:  # some formulas are violated
        raise RuntimeError(f"ltlpipe solve: exit code {done.returncode}")
    return page


def main() -> int:
    """Write the picture, or say what is not installed."""
    if missing():
        print(f"picture.py: not installed: {', '.join(missing())}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        page = report(Path(name))
        with chromium(Path(name) / "profile") as browser:
            size = {"width": WIDTH, "height": HEIGHT}
            shown = {**size, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", shown)
            browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
            opened(browser, page)
            browser.save_screenshot(str(PICTURE))
    return 0


if __name__ == "__main__":
    sys.exit(main())
