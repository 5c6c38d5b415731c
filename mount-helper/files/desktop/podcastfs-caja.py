"""Episodes of podcastfs in Caja."""
import sys

import gi

gi.require_version('Caja', '2.0')
from gi.repository import GObject, Caja

sys.path.insert(0, '@datadir@')
from podcastfs_files import Provider


class PodcastFS(Provider, GObject.GObject, Caja.ColumnProvider, Caja.InfoProvider, Caja.MenuProvider):
    library = Caja
