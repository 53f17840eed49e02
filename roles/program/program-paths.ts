/** The paths at which a site and a hub serve their program to everybody. */
export const programPrefix = '/skerry/program/'
export const scriptPath = `${programPrefix}install.sh`

/** Returns the SHA-256 that a path names, or undefined for any other path. */
export function sha256OfPath(path: string): string | undefined {
  return /^\/skerry\/program\/sha256-([0-9a-f]{64})$/.exec(path)?.[1]
}
