import type { EdgeCluster } from '../kind/edge-cluster.ts'
import { apiPortDefault, frontOf } from '../kind/made-masters.ts'
import type { MachineContext } from '../contract/step.ts'
import { addressOf } from './commands.ts'
import { applySettings, restartSite } from './restart-site.ts'
import { apiWords, envText, readSiteWords, siteOptionsFile, splitApiWords } from './site-options.ts'

/** The name of the step, by which it knows that it has been done before. */
export const apiNamesName = 'SetAPINames'

/** Returns true if the object has names, or has had some before, which must go from the certificate. */
export function hasApiNames({ spec, status }: EdgeCluster): boolean {
  if ((spec.apiNames ?? []).length > 0 || frontOf(spec) !== undefined) return true
  return (status?.steps ?? []).some(({ name }) => name === apiNamesName)
}

export function apiNamesOf({ spec }: EdgeCluster): unknown {
  const front = frontOf(spec)
  if (front === undefined) return spec.apiNames
  // The usual port is left out: clusters that were made before sites knew the port are not started again for it.
  const isUsual = front.endpoint === `${front.address}:${apiPortDefault}`
  return [spec.apiNames, isUsual ? front.address : front.endpoint]
}

/**
 * Gives a running site the names of its API and the address before the masters. It starts again if they are others, and serves a certificate with them;
 * nodes and pods go on meanwhile.
 */
export async function setApiNames(context: MachineContext): Promise<string> {
  const { edge, machine, shell, signal } = context
  const { networkInterface, apiNames = [] } = edge.spec
  const words = await readSiteWords(context)
  const address = await addressOf(shell, { address: machine.address, networkInterface }, signal)
  const wanted = apiWords(edge, machine, address)
  const front = frontOf(edge.spec)
  const names = [...(front === undefined ? [] : [front.address]), ...apiNames]
  const told =
    names.length === 0
      ? 'no name besides its addresses'
      : `names besides its addresses: ${names.join(', ')}`
  const { own, others } = splitApiWords(words)
  const isNew = new Set(wanted).symmetricDifference(new Set(own)).size > 0
  const isRestarted = await applySettings(context, {
    isNew,
    async write() {
      if (isNew) await shell.write(siteOptionsFile, envText([...others, ...wanted]), 0o600)
    },
    restart: () => restartSite(context),
  })
  return isRestarted ? told : `${told}; as before`
}
