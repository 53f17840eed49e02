/** The words for a cluster's place and labels, which its agent reports to the hub. */
export interface PlaceFlags {
  provider: string | undefined
  region: string | undefined
  zone: readonly string[]
  label: Record<string, string>
}

/** Leaves out unset fields, so that the agent does not report them. */
export function placeOf({ provider, region, zone, label }: PlaceFlags) {
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(region === undefined ? {} : { region }),
    ...(zone.length === 0 ? {} : { zones: [...zone] }),
    ...(Object.keys(label).length === 0 ? {} : { labels: label }),
  }
}
