"""What Nautilus, Nemo and Caja show and offer of episodes in a mount of podcastfs.

Each of them loads a small file of its own that gives this module its library. The attributes of a file are read only
below a mount of podcastfs. To read them starts no download, and never waits for a host.
"""
import os
import time

from gi.repository import Gio, GLib

PREFIX = 'user.podcastfs.'
COLUMNS = [
    # name, label, description
    ('progress', 'Progress', 'How much of the episode is downloaded'),
    ('state', 'State', 'Whether the episode is downloaded'),
    ('duration', 'Duration', 'How long the episode plays'),
    ('position', 'Position', 'How far you have listened'),
]
# Icon Naming Specification.
EMBLEMS = {
    'cached': 'emblem-default', 'downloading': 'emblem-synchronizing', 'queued': 'emblem-synchronizing',
    'failed': 'emblem-important',
}
WORDS = {
    'remote': '', 'queued': 'queued', 'downloading': 'downloading', 'paused': 'paused', 'failed': 'failed',
    'cached': 'downloaded',
}
MOST_FILES = 500  # of a selection that are looked at for its menu


class Mounts:
    """The mount points of podcastfs."""
    FRESH = 1.0  # seconds

    def __init__(self):
        self.points, self.read = [], 0.0

    def of(self, path):
        """The mount point that a path is below; None where it is none of ours."""
        if time.monotonic() - self.read > self.FRESH:
            self.points, self.read = list(self.current()), time.monotonic()
        return next((point for point in self.points if path.startswith(point + '/')), None)

    @staticmethod
    def current():
        with open('/proc/self/mountinfo', encoding='utf-8', errors='surrogateescape') as table:
            for line in table:
                fields = line.split(' ')
                if fields[fields.index('-') + 1] == 'fuse.podcastfs':
                    point = fields[4].encode('utf-8', 'surrogateescape').decode('unicode_escape')
                    yield point.encode('latin-1').decode('utf-8', 'surrogateescape')


mounts = Mounts()


def attribute(path, name):
    try:
        return os.getxattr(path, PREFIX + name).decode('utf-8', 'replace')
    except OSError:
        return ''


def clock(seconds):
    """'1:02:03' of a text of seconds; '' of anything else."""
    try:
        whole = int(float(seconds))
    except ValueError:
        return ''
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f'{hours}:{minutes:02}:{rest:02}' if hours else f'{minutes}:{rest:02}'


def facts(path):
    """The texts of the columns, and the state; None for other files."""
    state = attribute(path, 'state')
    if not state:
        return None
    progress, position = attribute(path, 'progress'), clock(attribute(path, 'position'))
    return {
        'state': state,
        'texts': {
            'progress': progress + ' %' if progress and state not in ('remote', 'cached') else '',
            'state': WORDS.get(state, state),
            'duration': clock(attribute(path, 'duration')),
            'position': 'played' if attribute(path, 'played') == '1' and not position else position,
        },
    }


ICON = 'metadata::custom-icon'


def cover_of(folder):
    """The cover of a podcast's folder, once it is cached; else None. Fetches nothing."""
    # A look into the folder would fetch a feed that was never fetched.
    if not attribute(folder, 'last_refresh'):
        return None
    for ending in ('jpg', 'png', 'webp'):
        cover = os.path.join(folder, 'cover.' + ending)
        try:
            known = os.stat(cover)
        except OSError:
            continue
        return cover if known.st_blocks * 512 >= known.st_size else None
    return None


def show_cover(folder):
    """Makes the cover the folder's icon, from the next time on that the file manager lists it."""
    cover, file = cover_of(folder), Gio.File.new_for_path(folder)
    wanted = GLib.filename_to_uri(cover, None) if cover else None
    try:
        known = file.query_info(ICON, Gio.FileQueryInfoFlags.NONE, None).get_attribute_as_string(ICON)
        # An icon that the user has chosen stays.
        if known == wanted or known and not known.startswith(GLib.filename_to_uri(folder, None) + '/cover.'):
            return
        if wanted:
            info = Gio.FileInfo()
            info.set_attribute_string(ICON, wanted)
            file.set_attributes_async(info, Gio.FileQueryInfoFlags.NONE, GLib.PRIORITY_DEFAULT, None, None)
        else:
            file.set_attribute(ICON, Gio.FileAttributeType.INVALID, None, Gio.FileQueryInfoFlags.NONE, None)
    except GLib.Error:
        pass


def path_of(file):
    """The path of a file of the file manager's below a mount of podcastfs; else None."""
    if file.get_uri_scheme() != 'file':
        return None
    path = file.get_location().get_path()
    return path if path and mounts.of(path) else None


def tell(summary, body):
    """A desktop notification."""
    try:
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        values = GLib.Variant('(susssasa{sv}i)', ('podcastfs', 0, 'dialog-warning', summary, body, [], {}, -1))
        name, path = 'org.freedesktop.Notifications', '/org/freedesktop/Notifications'
        bus.call(name, path, name, 'Notify', values, None, Gio.DBusCallFlags.NONE, -1, None, None)
    except GLib.Error:
        pass


def report(label, path, reason):
    tell(f'{label}: not possible', GLib.markup_escape_text(f'{os.path.basename(path)}: {reason}'))


def setting(name, value):
    """Sets an attribute, without waiting for it."""
    def change(label, path):
        def done(file, result):
            try:
                file.set_attributes_finish(result)
            except GLib.Error as error:
                report(label, path, error.message)
        info = Gio.FileInfo()
        info.set_attribute_string(f'xattr::podcastfs.{name}', value)
        Gio.File.new_for_path(path).set_attributes_async(
            info, Gio.FileQueryInfoFlags.NONE, GLib.PRIORITY_DEFAULT, None, done)
    return change


def moving(folder):
    """Moves to a folder of the mount, which leaves it where it is too."""
    def move(label, path):
        try:
            os.rename(path, os.path.join(mounts.of(path), folder, os.path.basename(path)))
        except OSError as error:
            report(label, path, error.strerror)
    return move


def show(label, path):
    """Opens what is known of an episode or podcast, in the desktop's program for texts."""
    try:
        Gio.Subprocess.new(['podcastfs', 'info', '--window', '--notify', '--', path], Gio.SubprocessFlags.NONE)
    except GLib.Error as error:
        report(label, path, error.message)


def actions(paths):
    """What the menu offers for some files: (name, label, function of label and path, paths)."""
    known = {path: attribute(path, 'state') for path in paths[:MOST_FILES]}
    episodes = [path for path, state in known.items() if state]
    def having(*states):
        return [path for path in episodes if known[path] in states]
    def marked(name, value):
        return [path for path in episodes if (attribute(path, name) == '1') == value]
    offers = [
        ('download', 'Download', setting('state', 'downloading'), having('remote', 'paused', 'failed')),
        ('pause', 'Pause download', setting('state', 'paused'), having('downloading', 'queued')),
        ('drop', 'Drop download', setting('state', 'remote'), having('downloading', 'queued', 'paused', 'failed', 'cached')),
        ('played', 'Mark as played', setting('played', '1'), marked('played', False)),
        ('unplayed', 'Mark as unplayed', setting('played', '0'), marked('played', True)),
        ('keep', 'Keep', setting('keep', '1'), marked('keep', False)),
        ('unkeep', 'Do not keep', setting('keep', '0'), marked('keep', True)),
        ('queue', 'Add to queue', moving('Queue'), episodes if queueable(episodes) else []),
        ('follow', 'Follow', moving('Subscriptions'), [path for path in paths[:MOST_FILES] if is_unfollowed(path)]),
    ]
    if len(paths) == 1 and (episodes or attribute(paths[0], 'feed_url')):
        offers.append(('information', 'Show information', show, paths))
    return [offer for offer in offers if offer[3]]


def queueable(paths):
    return paths and os.path.isdir(os.path.join(mounts.of(paths[0]), 'Queue'))


def is_unfollowed(path):
    """Whether it is the folder of a podcast outside of Subscriptions/."""
    place = path[len(mounts.of(path)) + 1:].split('/')
    return place[0] in ('Search', 'Discover') and len(place) > 2 and bool(attribute(path, 'feed_url'))


class Provider:
    """Columns, emblems and menus, for a class that names its file manager's library in `library`."""
    library = None

    def get_columns(self):
        return [
            self.library.Column(name=f'PodcastFS::{name}', attribute=f'podcastfs_{name}', label=label,
                                description=description)
            for name, label, description in COLUMNS
        ]

    def update_file_info(self, file):
        """Reads a few attributes, which the mount has at hand: the libraries' way to do it behind is broken for Python."""
        for name, _, _ in COLUMNS:
            # A column without a value shows "unknown".
            file.add_string_attribute(f'podcastfs_{name}', '')
        path = path_of(file)
        if path and file.is_directory() and attribute(path, 'feed_url'):
            show_cover(path)
        found = None if not path or file.is_directory() else facts(path)
        if found:
            self.put(file, found)

    def put(self, file, found):
        for name, text in found['texts'].items():
            file.add_string_attribute(f'podcastfs_{name}', text)
        if found['state'] in EMBLEMS:
            file.add_emblem(EMBLEMS[found['state']])
        # Its end is announced by inotify, its progress is not.
        if found['state'] == 'downloading':
            GLib.timeout_add_seconds(2, self.look_again, file)

    @staticmethod
    def look_again(file):
        file.invalidate_extension_info()
        return False

    def get_file_items(self, *arguments):
        # Older versions give the window first.
        paths = [path_of(file) for file in arguments[-1]]
        if not paths or None in paths:
            return []
        offers = actions(paths)
        if not offers:
            return []
        top = self.library.MenuItem(name='PodcastFS::menu', label='Podcast')
        menu = self.library.Menu()
        top.set_submenu(menu)
        for name, label, action, chosen in offers:
            item = self.library.MenuItem(name=f'PodcastFS::{name}', label=label)
            item.connect('activate', self.act, label, action, chosen)
            menu.append_item(item)
        return [top]

    @staticmethod
    def act(_, label, action, paths):
        for path in paths:
            action(label, path)

    def get_background_items(self, *arguments):
        return []
