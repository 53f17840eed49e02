/** Volume sources without a driver left in Kubernetes, in upstream's order. */
const oldSources: ReadonlyMap<string, string> = new Map([
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
])
/** Upstream spells this one differently from its field. */
const otherSpelling: Readonly<Record<string, string>> = Object.freeze({ storageos: 'storageOS' })

export function warningsOfVolumeSources(volume: object, field: string): string[] {
  return [...oldSources].flatMap(([name, text]) =>
    name in volume ? [`${field}.${otherSpelling[name] ?? name}: ${text}`] : [],
  )
}
