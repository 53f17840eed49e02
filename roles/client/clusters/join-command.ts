import { isStatusError, parseDurationMs } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import {
  registrationResource,
  type ClusterRegistration,
  type ClusterRegistrationStatus,
} from '@skerry/fleet-kinds'
import { openChosenHub } from '../../admin/admin-cluster.ts'
import type { ChosenHub } from '../../admin/chosen-hub.ts'
import { machineLine, pinScript } from '../../program/machine-line.ts'
import { packageWords } from '../../program/package-key.ts'
import { advertised } from '../../runtime/host-addresses.ts'
import { placeOf, type PlaceFlags } from '../../agent/place-options.ts'
import { choosePackage, type LinePackageFlags } from '../choose-package.ts'
import { askMs, lineMs } from '../limits-table.ts'
import { tellExpiry } from '../text/tell-expiry.ts'
import { packageOfCluster } from './package-of-cluster.ts'
import { siteWords, wayWords } from './site-words.ts'

/** The words for the way of the new agent to the hub. */
interface AgentWayFlags {
  server: string | undefined
  proxy: string | undefined
  proxyCredentials: boolean | undefined
  inspectedTls: boolean | undefined
}

/** The words for the users, services and machines that the new agent lets through. */
interface AllowedFlags {
  allowUser: string[]
  allowGroup: string[]
  allowMasters: boolean | undefined
  allowService: string[]
  allowDial: string[]
}

export interface JoinCommandOptions
  extends AgentWayFlags, AllowedFlags, LinePackageFlags, PlaceFlags, ChosenHub {
  output: string | undefined
  name: string
  ttl: string
  manifest: boolean | undefined
  needsAcceptance: boolean | undefined
  image: string | undefined
  sitePort: number | undefined
  applyWorks: boolean | undefined
  virtualClusters: boolean | undefined
  edgeApps: string[] | undefined
}

/** Asks the hub for a registration and prints what the edge has to run. */
export async function printJoinCommand(options: JoinCommandOptions): Promise<void> {
  const { name, output, proxy } = options
  const [way, further] = machineWords(options)
  const hub = await openChosenHub(options)
  const server = options.server ?? advertised(hub.server)
  const signal = AbortSignal.timeout(options.machine === true ? lineMs : askMs)
  const byDefault = (): ReturnType<typeof packageOfCluster> =>
    packageOfCluster(hub.cluster, name, signal)
  const offline = await choosePackage(options, hub.cluster, byDefault, signal)
  // Nothing is made if there is no program to give.
  const script =
    options.machine === true ? await pinScript(hub.cluster, { server, offline }, signal) : undefined
  const status = await register(hub.cluster, { ...options, server })
  const { token, command, manifest, caHash, expires } = status
  const own = ['--server', server, '--ca-hash', caHash, '--name', name]
  const joining = ['site', ...own, ...packageWords(offline), ...way]
  const words = [...joining, ...(further.length === 0 ? [] : ['--', ...further])]
  const by = { proxy: proxy ?? '', hasLogin: options.proxyCredentials === true }
  const line =
    script && machineLine({ script, token, words, ...(proxy === undefined ? {} : { by }) })
  if (output === 'json') {
    const shown = { cluster: name, server, token, caHash, expires, command, manifest, line, script }
    console.log(JSON.stringify(shown))
  } else if (line !== undefined) {
    console.log(line)
    tellExpiry(Date.parse(expires), options.ttl)
  } else if (options.manifest === true) console.log(manifest.trimEnd())
  else console.log(`(umask 077 && echo ${token} > token) && ${command}`)
}

/** Returns the options of a machine's own command, and those of its site. Throws ExpectedError. */
function machineWords(options: JoinCommandOptions): [string[], string[]] {
  if (options.machine === true) return [wayWords(options), siteWords(options)]
  if (options.sitePort === undefined) return [[], []]
  const text = 'Cannot print the command: --site-port belongs to --machine'
  throw new ExpectedError(text, exitCodes.usage)
}

async function register(
  hub: ClusterClient,
  options: JoinCommandOptions & { server: string },
): Promise<ClusterRegistrationStatus> {
  const { name, server, ttl, image, allowUser, allowGroup } = options
  const registration: ClusterRegistration = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'ClusterRegistration',
    metadata: {},
    spec: {
      clusterName: name,
      server,
      ttlSeconds: Math.floor((parseDurationMs(ttl) ?? 0) / 1_000),
      needsAcceptance: options.needsAcceptance === true,
      allowMasters: options.allowMasters === true,
      allowUsers: allowUser,
      allowGroups: allowGroup,
      allowServices: options.allowService,
      allowDials: options.allowDial,
      applyWorks: options.applyWorks === true,
      virtualClusters: options.virtualClusters === true,
      ...(options.edgeApps === undefined ? {} : { edgeApps: options.edgeApps }),
      ...(image === undefined ? {} : { image }),
      ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
      proxyCredentials: options.proxyCredentials === true,
      inspectedTls: options.inspectedTls === true,
      ...placeOf(options),
    },
  }
  const signal = AbortSignal.timeout(askMs)
  try {
    const { status } = await hub.resource(registrationResource).create(registration, signal)
    if (status !== undefined) return status
    throw new Error(`Cannot register cluster "${name}": the hub answered without a token`)
  } catch (error) {
    if (!isStatusError(error, 'Invalid')) throw error
    const text = `Cannot register cluster "${name}": ${error.message}`
    throw new ExpectedError(text, exitCodes.usage, { cause: error })
  }
}
