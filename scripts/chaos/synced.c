// Simulates a power failure: preloaded into the gateway (LD_PRELOAD), it keeps an image of a folder with only the synced data. After the process was
// killed, the image is what a machine would find after a power failure, unlike the files, which include unsynced writes.
//
// TURNPIKE_SYNCED_FOLDER: the folder that is watched, as a real path, without those below it. TURNPIKE_SYNCED_IMAGE: where the image is
// kept, as power.ts reads it: the bytes of a file by its inode, as they were when it was synced last; and in `names` the names and inodes
// as they were when the folder was synced last. Bytes that were written while a file is being copied may be in the image or not: a disk
// promises no more until fsync has returned. Nothing is really synced, so that it takes little time.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS_AT_ONCE = 256, LONGEST_PATH = 2 * PATH_MAX };

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static const char *folder, *image;

__attribute__((constructor)) static void start(void) {
  folder = getenv("TURNPIKE_SYNCED_FOLDER");
  image = getenv("TURNPIKE_SYNCED_IMAGE");
}

// Whether a descriptor refers to the folder itself, or to a file in it, which may be unlinked.
static int is_watched(int fd, int is_folder) {
  char link[64], path[PATH_MAX];
  const size_t length = strlen(folder);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t read = readlink(link, path, sizeof path - 1);
  if (read < 0) return 0;
  path[read] = 0;
  if (strncmp(path, folder, length) != 0) return 0;
  if (is_folder) return path[length] == 0;
  return path[length] == '/' && strchr(path + length + 1, '/') == NULL;
}

// Copies the current content of a file to its image. The file may be open for writing only.
static int copy_file(int written, const struct stat *about) {
  static char now[BLOCK * BLOCKS_AT_ONCE], then[BLOCK * BLOCKS_AT_ONCE];
  char path[LONGEST_PATH];
  int result = -1;
  snprintf(path, sizeof path, "/proc/self/fd/%d", written);
  const int from = open(path, O_RDONLY | O_CLOEXEC);
  snprintf(path, sizeof path, "%s/%llu", image, (unsigned long long)about->st_ino);
  const int to = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (from < 0 || to < 0 || ftruncate(to, about->st_size) != 0) goto done;
  for (off_t at = 0; at < about->st_size;) {
    const ssize_t got = pread(from, now, sizeof now, at), had = pread(to, then, sizeof then, at);
    if (got < 0 || had < 0) goto done;
    // It was truncated.
    if (got == 0) break;
    for (ssize_t block = 0; block < got; block += BLOCK) {
      const size_t length = got - block < BLOCK ? (size_t)(got - block) : BLOCK;
      if (had >= block + (ssize_t)length && memcmp(now + block, then + block, length) == 0) continue;
      if (pwrite(to, now + block, length, at + block) != (ssize_t)length) goto done;
    }
    at += got;
  }
  result = 0;
done:
  if (from >= 0) close(from);
  if (to >= 0) close(to);
  return result;
}

// Copies the names of the folder to the image, atomically.
static int copy_names(void) {
  char making[LONGEST_PATH], path[LONGEST_PATH];
  snprintf(making, sizeof making, "%s/names.new", image);
  snprintf(path, sizeof path, "%s/names", image);
  DIR *entries = opendir(folder);
  FILE *names = entries == NULL ? NULL : fopen(making, "we");
  if (names == NULL) {
    if (entries != NULL) closedir(entries);
    return -1;
  }
  for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
    if (entry->d_type == DT_REG) fprintf(names, "%llu %s\n", (unsigned long long)entry->d_ino, entry->d_name);
  closedir(entries);
  return fclose(names) == 0 ? rename(making, path) : -1;
}

static int sync_into_image(int fd) {
  struct stat about;
  if (folder == NULL || image == NULL) return 0;
  if (fstat(fd, &about) != 0) return -1;
  const int is_folder = S_ISDIR(about.st_mode);
  if ((!is_folder && !S_ISREG(about.st_mode)) || !is_watched(fd, is_folder)) return 0;
  pthread_mutex_lock(&one_at_a_time);
  const int result = is_folder ? copy_names() : copy_file(fd, &about);
  pthread_mutex_unlock(&one_at_a_time);
  // The caller gets the error of a failing disk, and the loop checks the consequences.
  if (result != 0) errno = EIO;
  return result;
}

int fsync(int fd) { return sync_into_image(fd); }

int fdatasync(int fd) { return sync_into_image(fd); }
