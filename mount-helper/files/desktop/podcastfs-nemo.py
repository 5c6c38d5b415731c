"""Episodes of podcastfs in Nemo."""
import sys

import gi

gi.require_version('Nemo', '3.0')
from gi.repository import GObject, Nemo

sys.path.insert(0, '@datadir@')
from podcastfs_files import Provider


class PodcastFS(Provider, GObject.GObject, Nemo.ColumnProvider, Nemo.InfoProvider, Nemo.MenuProvider):
    library = Nemo
