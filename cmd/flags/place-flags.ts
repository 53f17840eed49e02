import { InvalidArgumentError, type Command } from 'commander'

/** A cluster's place and labels, which its agent reports to the hub. */
export interface PlaceFlags {
  provider: string | undefined
  region: string | undefined
  zone: readonly string[]
  label: Record<string, string>
}

export function withPlaceOptions(command: Command): Command {
  return command
    .option('--provider <text>', 'provider of the place, for the Cluster object')
    .option('--region <text>', 'region of the place, for the Cluster object')
    .option('--zone <text>', 'zone of the Cluster object (repeatable)', collect, [])
    .option('--label <key=value>', 'label of the Cluster object (repeatable)', collectLabel, {})
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

function collect(value: string, previous: string[]): string[] {
  return [...previous, value]
}

/** Adds a label to those before. */
export function collectLabel(
  text: string,
  previous: Record<string, string>,
): Record<string, string> {
  const [, key, value] = /^([^=]+)=([^=]*)$/.exec(text) ?? []
  if (key === undefined || value === undefined) {
    throw new InvalidArgumentError('a label is <key>=<value>, e.g. link=lte')
  }
  return { ...previous, [key]: value }
}
