import { ExpectedError, exitCodes } from '@skerry/base'
import { placeArguments } from '@skerry/fleet-kinds'
import { toLineProxy, whyNoLineProxy } from '../../program/line-proxy.ts'
import { placeOf, type PlaceFlags } from '../../agent/place-options.ts'

/** The changes that the site's agent makes in its cluster. */
interface DutyWords {
  readonly applyWorks: boolean | undefined
  readonly virtualClusters: boolean | undefined
  readonly edgeApps: string[] | undefined
}

/** The words of a join command that say what the new site's agent lets through and applies. */
export interface SiteWordsOptions extends DutyWords, PlaceFlags {
  readonly manifest: boolean | undefined
  readonly image: string | undefined
  readonly sitePort: number | undefined
  readonly proxy: string | undefined
  readonly proxyCredentials: boolean | undefined
  readonly inspectedTls: boolean | undefined
  readonly allowUser: readonly string[]
  readonly allowGroup: readonly string[]
  readonly allowMasters: boolean | undefined
  readonly allowService: readonly string[]
}

/** Returns the options of `skerry machine join-site` for the way of the machine, and for its port. */
export function wayWords({
  proxy,
  proxyCredentials,
  inspectedTls,
  sitePort,
}: Pick<SiteWordsOptions, 'proxy' | 'proxyCredentials' | 'inspectedTls' | 'sitePort'>): string[] {
  const why = proxy === undefined ? undefined : whyNoLineProxy(proxy)
  if (why !== undefined) {
    throw new ExpectedError(`Cannot print a line with this --proxy: ${why}`, exitCodes.usage)
  }
  if (proxyCredentials === true && proxy === undefined) {
    const text = 'Cannot print a line: --proxy-credentials belongs to --proxy'
    throw new ExpectedError(text, exitCodes.usage)
  }
  return [
    ...(proxy === undefined ? [] : ['--proxy', toLineProxy(proxy)]),
    ...(proxyCredentials === true ? ['--proxy-credentials'] : []),
    ...(inspectedTls === true ? ['--inspected-tls'] : []),
    ...(sitePort === undefined ? [] : ['--port', String(sitePort)]),
  ]
}

/**
 * Returns the options of `skerry site` that a join command asks for. Throws ExpectedError for one that a line for a
 * machine cannot have.
 */
export function siteWords(options: SiteWordsOptions): string[] {
  const { allowUser, allowGroup, allowMasters, allowService } = options
  refuseOthers(options)
  const words = [
    ...allowUser.flatMap((name) => ['--allow-user', name]),
    ...allowGroup.flatMap((name) => ['--allow-group', name]),
    ...(allowMasters === true ? [] : ['--deny-group', 'system:masters']),
    ...allowService.flatMap((service) => ['--allow-service', service]),
    ...placeArguments(placeOf(options)),
    ...(options.applyWorks === true ? ['--apply-works'] : []),
    ...(options.virtualClusters === true ? ['--virtual-clusters'] : []),
    ...(options.edgeApps === undefined ? [] : ['--edge-apps', options.edgeApps.join(',')]),
  ]
  // The unit of the site takes its options from a file that is split at spaces.
  const odd = words.find((word) => !/^[\w.,:/@=+-]+$/.test(word))
  if (odd === undefined) return words
  const text = `Cannot print a line with "${odd}": options of a machine's site have letters, digits and .,:/@=+- only; use "skerry site" there`
  throw new ExpectedError(text, exitCodes.usage)
}

function refuseOthers(options: SiteWordsOptions): void {
  const others: readonly [string, boolean][] = [
    ['--manifest', options.manifest === true],
    ['--image', options.image !== undefined],
  ]
  const given = others.find(([, isGiven]) => isGiven)
  if (given === undefined) return
  const text = `Cannot print a line: --machine does not go with ${given[0]}`
  throw new ExpectedError(text, exitCodes.usage)
}
