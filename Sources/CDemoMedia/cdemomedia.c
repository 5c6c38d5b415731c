#include "cdemomedia.h"

// C23's #embed, as an extension of clang in the C that SwiftPM compiles.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char harbour_1[] = {
#embed "media/harbour-1.mp3"
};
static const unsigned char harbour_2[] = {
#embed "media/harbour-2.mp3"
};
static const unsigned char harbour_3[] = {
#embed "media/harbour-3.mp3"
};
static const unsigned char harbour_4[] = {
#embed "media/harbour-4.mp3"
};
static const unsigned char harbour[] = {
#embed "media/harbour.png"
};
static const unsigned char trains_1[] = {
#embed "media/trains-1.mp3"
};
static const unsigned char trains_2[] = {
#embed "media/trains-2.mp3"
};
static const unsigned char trains_3[] = {
#embed "media/trains-3.mp3"
};
static const unsigned char trains_4[] = {
#embed "media/trains-4.mp3"
};
static const unsigned char trains[] = {
#embed "media/trains.png"
};
static const unsigned char orchestra_1[] = {
#embed "media/orchestra-1.mp3"
};
static const unsigned char orchestra_2[] = {
#embed "media/orchestra-2.mp3"
};
static const unsigned char orchestra_3[] = {
#embed "media/orchestra-3.mp3"
};
static const unsigned char orchestra_4[] = {
#embed "media/orchestra-4.mp3"
};
static const unsigned char orchestra[] = {
#embed "media/orchestra.png"
};

#define FILE(name, bytes) {name, bytes, sizeof bytes}
static const podcastfs_demo_file files[] = {
    FILE("harbour-1.mp3", harbour_1),     FILE("harbour-2.mp3", harbour_2),
    FILE("harbour-3.mp3", harbour_3),     FILE("harbour-4.mp3", harbour_4),
    FILE("harbour.png", harbour),         FILE("trains-1.mp3", trains_1),
    FILE("trains-2.mp3", trains_2),       FILE("trains-3.mp3", trains_3),
    FILE("trains-4.mp3", trains_4),       FILE("trains.png", trains),
    FILE("orchestra-1.mp3", orchestra_1), FILE("orchestra-2.mp3", orchestra_2),
    FILE("orchestra-3.mp3", orchestra_3), FILE("orchestra-4.mp3", orchestra_4),
    FILE("orchestra.png", orchestra),
};

const podcastfs_demo_file *podcastfs_demo_files(size_t *count) {
  *count = sizeof files / sizeof *files;
  return files;
}
