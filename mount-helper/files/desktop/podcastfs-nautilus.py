"""Episodes of podcastfs in Nautilus."""
import sys

import gi

gi.require_version('Nautilus', '4.0')
from gi.repository import GObject, Nautilus

sys.path.insert(0, '@datadir@')
from podcastfs_files import Provider


class PodcastFS(Provider, GObject.GObject, Nautilus.ColumnProvider, Nautilus.InfoProvider, Nautilus.MenuProvider):
    library = Nautilus
