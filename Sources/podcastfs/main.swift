print("podcastfs")
