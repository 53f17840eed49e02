import type { OwnMachineContext } from '../contract/step.ts'
import type { Configuration } from '../kind/role-options.ts'
import { places } from './commands.ts'
import { envText } from './site-options.ts'

const variable = 'SKERRY_OPTIONS'

/** The variable of the units that has the options, as their files write it. */
export const optionsVariable = `$${variable}`

export function optionsFileOf(role: keyof Configuration): string {
  return `${places.settings}/${role}-options.env`
}

/** Returns the file of a role's options. Throws if a word cannot be in it. */
export function optionsText(options: Configuration, role: keyof Configuration): string {
  return envText(wordsOf(options, role), variable)
}

/** Gives a role that starts for the first time the options that a job has given to those that were there. */
export async function giveOptions(
  role: keyof Configuration,
  { edge, shell }: Pick<OwnMachineContext, 'edge' | 'shell'>,
): Promise<void> {
  const { configuration = {} } = edge.status ?? {}
  if (configuration[role] === undefined) return
  await shell.write(optionsFileOf(role), optionsText(configuration, role), 0o600)
}

function wordsOf({ site, node }: Configuration, role: keyof Configuration): string[] {
  if (role === 'site') {
    return [
      ...(site?.logLevel === undefined ? [] : ['--log-level', site.logLevel]),
      ...(site?.metricsAPI === false ? ['--disable-metrics-api'] : []),
      ...(site?.featureGates ?? []).flatMap((gate) => ['--feature-gates', gate]),
      ...(site?.runtimeConfig ?? []).flatMap((entry) => ['--runtime-config', entry]),
    ]
  }
  return [
    ...(node?.logLevel === undefined ? [] : ['--log-level', node.logLevel]),
    ...(node?.reservedAddresses ?? []).flatMap((each) => ['--reserved-address', each]),
  ]
}
