print("podcastfs-transferd")
