"""Unpacks the extension for a browser, and shows the link that pairs it: `extension`."""

import shutil
import zipfile
from pathlib import Path
from typing import Final

import browser_service
from browse_together.contract import wire
from browse_together.contract.data_files import EXTENSION_FILE, EXTENSION_FOLDER
from browse_together.contract.errors import ValidationFailed
from browser_service.cli import flags, output
from browser_service.cli.client import Client
from browser_service.cli.options import new_app

_FILES: Final = Path(browser_service.__file__).parent / "extension"

app = new_app()


@app.command()
def extension(*, data_dir: flags.DataDir = None, as_json: flags.AsJson = False) -> None:
    """Show agents in your browser's tab strip: the folder to load there, and a link that pairs it, once, within ten
    minutes. Each agent's tabs stand in a group of its colour; dragging a tab into it shares that tab."""
    folder = flags.settings(data_dir).data_dir
    with Client(folder, operator=True) as service:
        link = str(service.post(wire.EXTENSION, {})["url"])
    loaded, archive = folder / EXTENSION_FOLDER, folder / EXTENSION_FILE
    try:
        shutil.copytree(_FILES, loaded, dirs_exist_ok=True)
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted(_FILES.iterdir()):
                packed.write(path, path.name)
    except OSError as error:
        raise ValidationFailed(
            f"The extension cannot be written to {loaded}: {error.strerror or error}.", hint="Make room there."
        ) from error
    if as_json:
        output.say_json({"folder": str(loaded), "zip": str(archive), "link": link})
        return
    output.say("1. Open chrome://extensions, switch on Developer mode, press Load unpacked, and choose this folder:")
    output.say(f"   {loaded}")
    output.say(f"   (or drop this file there: {archive})")
    output.say("2. Open this link in the same browser. It works once, within ten minutes:")
    output.say(f"   {link}")
