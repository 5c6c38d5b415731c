-- Keeps the listening position of episodes in podcastfs.
--
-- When mpv opens an episode below a mount of podcastfs, this script seeks to the episode's position. It does not seek
-- where the user gave --start, --end or --length. It stores the position every 15 seconds while mpv plays, at each pause and seek, and when
-- the file ends. Any other file is left alone. Debian's mpv loads the script from /etc/mpv/scripts.

local utils = require 'mp.utils'

local interval = 15 -- seconds between two stores
local episode = nil -- the absolute path of the open episode; nil for any other file
local stored = nil -- the position that was stored last, in seconds
local current = nil -- the position that mpv said last, in seconds
local resuming = false -- whether the seek to the stored position has not ended yet: until then `current` is older
local seeks = 0 -- how many seeks have begun since then
local timer = nil

local function podcastfs(arguments)
    table.insert(arguments, 1, 'podcastfs')
    return mp.command_native({
        name = 'subprocess', args = arguments, playback_only = false, capture_stdout = true, capture_stderr = true,
    })
end

local function store(position)
    if not episode or not position then return end
    local before = stored or 0
    -- mpv may say that it is a moment before the start.
    if position < 1 then position = 0 end
    if math.abs(position - before) < 1 and (position > 0 or before == 0) then return end
    stored = position
    podcastfs({'position', '--', episode, string.format('%.1f', position)})
end

local function store_now()
    if not resuming then store(current) end
end

-- A local path; nil for addresses, pipes and devices.
local function local_path()
    local path = mp.get_property('path')
    if not path then return nil end
    if path:find('^file://') then
        path = path:sub(8):gsub('%%(%x%x)', function(digits) return string.char(tonumber(digits, 16)) end)
    elseif path:find('^%a[%w+.-]*://') or path == '-' then
        return nil
    end
    return utils.join_path(mp.get_property('working-directory') or '', path)
end

-- Whether the user has mpv play only a part: with --start, --end or --length.
local function plays_part()
    for _, name in ipairs({'start', 'end', 'length'}) do
        local value = mp.get_property(name)
        if value and value ~= 'none' then return true end
    end
    return false
end

mp.register_event('file-loaded', function()
    episode, stored, current, resuming = nil, nil, nil, false
    local path = local_path()
    if not path then return end
    local answer = podcastfs({'position', '--', path})
    if not answer or answer.status ~= 0 then return end
    episode = path
    local position = tonumber(answer.stdout)
    if position and position > 0 and not plays_part() then
        stored, resuming, seeks = position, true, 0
        mp.commandv('seek', position, 'absolute+exact')
    end
    timer = timer or mp.add_periodic_timer(interval, function()
        if not mp.get_property_bool('pause') then store_now() end
    end)
end)

mp.observe_property('time-pos', 'number', function(_, position)
    -- Positions from before the seek may still arrive behind it.
    if resuming and (not position or position < stored - 1) then return end
    if position then current, resuming = position, false end
end)
mp.observe_property('pause', 'bool', function(_, paused) if paused then store_now() end end)
mp.register_event('seek', function()
    seeks = seeks + 1
    -- The first one is the script's own. A second one is the listener's, and ends the resuming.
    if resuming and seeks > 1 then resuming = false else store_now() end
end)
-- mpv plays on behind a seek.
mp.register_event('playback-restart', function()
    if not resuming then store(mp.get_property_number('time-pos')) end
end)

-- The properties of the file can still be read here.
mp.add_hook('on_unload', 50, function()
    if not episode then return end
    local duration = mp.get_property_number('duration')
    -- The last position that mpv says is a moment before the end.
    local isNear = duration and current and not resuming and duration - current < 2
    -- The end of a part is not the end of the episode.
    local isEnd = not plays_part() and mp.get_property_bool('eof-reached')
    if duration and (isNear or isEnd) then store(duration) else store_now() end
    episode = nil
    if timer then timer:kill() end
    timer = nil
end)
