/** A file name as one inert word: it may hold line breaks, terminal codes, or letters that turn the reading order. */
export const inertName = (name: string): string =>
  /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(name)
    ? JSON.stringify(name).replaceAll(
        /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
        (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`
      )
    : name
