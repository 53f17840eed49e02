/** The paths at which a site and a hub serve what machines without mirrors need of offline packages. */
export const packagePrefix = '/skerry/package/'

/** The path of the answer that names the package of this site. */
export const offeredPath = `${packagePrefix}offered`

/** A part of a package; files are named by their SHA-256. */
export type PackagePart =
  | { readonly type: 'script' | 'manifest' | 'signature' }
  | { readonly type: 'library' | 'file'; readonly sha256: string }

export interface AskedPart {
  /** sha256:<hex> */
  readonly digest: string
  readonly part: PackagePart
}

const names = {
  script: 'install.sh',
  manifest: 'manifest.json',
  signature: 'manifest.sig',
} as const

/** Returns the path of a part of the package with this digest. */
export function packagePath(digest: string, part: PackagePart): string {
  const name = 'sha256' in part ? `${part.type}-${part.sha256}` : names[part.type]
  return `${packagePrefix}${digest.slice('sha256:'.length)}/${name}`
}

/** Returns the part that a path names, or undefined for any other path. */
export function askedPart(path: string): AskedPart | undefined {
  const [, hex, name = '', type, sha256] =
    /^\/skerry\/package\/([0-9a-f]{64})\/(install\.sh|manifest\.json|manifest\.sig|(library|file)-([0-9a-f]{64}))$/.exec(
      path,
    ) ?? []
  if (hex === undefined) return undefined
  const digest = `sha256:${hex}`
  if ((type === 'library' || type === 'file') && sha256 !== undefined) {
    return { digest, part: { type, sha256 } }
  }
  const whole = (['script', 'manifest', 'signature'] as const).find((each) => names[each] === name)
  return whole && { digest, part: { type: whole } }
}
