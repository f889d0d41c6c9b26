// The user and the group that this process runs as: it never changes them. Does not know files.

/** -1 where the system has none (Windows). Asked once: each call takes 4 µs, as measured at an edit of 10 KB. */
export const OWN_UID = process.geteuid?.() ?? -1
export const OWN_GID = process.getegid?.() ?? -1
