import { InvalidArgumentError, type Command } from 'commander'

/** Where a cluster is, and its labels, as its agent tells the hub. */
export interface PlaceFlags {
  provider: string | undefined
  region: string | undefined
  zone: readonly string[]
  label: Record<string, string>
}

export function withPlaceOptions(command: Command): Command {
  return command
    .option('--provider <text>', 'who runs the place, for the Cluster object')
    .option('--region <text>', 'where it is, for the Cluster object')
    .option('--zone <text>', 'zone of the Cluster object (repeatable)', collect, [])
    .option('--label <key=value>', 'label of the Cluster object (repeatable)', collectLabel, {})
}

/** What was not said is absent, so that the agent says nothing of it. */
export function placeOf({ provider, region, zone, label }: PlaceFlags) {
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(region === undefined ? {} : { region }),
    ...(zone.length === 0 ? {} : { zones: [...zone] }),
    ...(Object.keys(label).length === 0 ? {} : { labels: label }),
  }
}

function collect(value: string, previous: string[]): string[] {
  return [...previous, value]
}

function collectLabel(text: string, previous: Record<string, string>): Record<string, string> {
  const [, key, value] = /^([^=]+)=([^=]*)$/.exec(text) ?? []
  if (key === undefined || value === undefined) {
    throw new InvalidArgumentError('a label is <key>=<value>, e.g. link=lte')
  }
  return { ...previous, [key]: value }
}
