import { ifThere, resources } from '@skerry/client'
import type { Secret } from '@skerry/api'
import type { ControllerContext } from '@skerry/controller-runtime'
import type { JumpHost } from '../kind/block-way.ts'
import { type EdgeCluster, clusterNameOfEdge } from '../kind/edge-cluster.ts'
import { jumpText } from '../kind/edge-cluster-ways.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import { proxySecrets } from '../ensure/proxy.ts'
import { loginOf, secretsOf, type LoginPlace } from '../shell/login-of-secret.ts'
import { ShellError, type Login, type OpenShell, type Shell } from '../contract/shell.ts'
import type { HubSide } from '../contract/step.ts'
import type { Jump, OpenJump, Way } from '../contract/ways.ts'
import { JumpHosts } from './jump-hosts.ts'
import type { Redactor } from './redactor.ts'
import type { StatusBook } from './status-book.ts'

export interface MachineOpenerDeps {
  readonly book: StatusBook
  readonly edge: EdgeCluster
  readonly hub: HubSide
  readonly context: ControllerContext
  readonly redactor: Redactor
  readonly openShell: OpenShell
  readonly openJump?: OpenJump | undefined
}

/** Opens machines with the logins of their Secrets, on the ways of their blocks, and keeps the host keys that are shown. */
export class MachineOpener implements AsyncDisposable {
  readonly #deps: MachineOpenerDeps
  readonly #jumps: JumpHosts

  constructor(deps: MachineOpenerDeps) {
    this.#deps = deps
    this.#jumps = new JumpHosts((jump, signal) => openJump(jump, deps, signal))
  }

  async open(machine: PlannedMachine, signal: AbortSignal): Promise<Shell> {
    const { book, edge, openShell } = this.#deps
    await concealProxy(this.#deps, signal)
    const login = await loginFor(machine, this.#deps, signal)
    const way = await this.#wayTo(machine, signal)
    const { address, role, block } = machine
    // A job asks masters that it does not change, too.
    const seen = edge.status?.machines?.find((each) => each.address === address)
    const known = book.machine(address) ?? seen ?? { address, role }
    const request = {
      address,
      login,
      ...(way === undefined ? {} : { way }),
      isHostKeyAccepted: (shown: string) => isAccepted(shown, block, known.hostKey),
    }
    const { unknownHostKey: _, ...rest } = known
    try {
      const shell = await openShell(request, signal)
      book.setMachine({ ...rest, hostKey: shell.hostKey })
      return shell
    } catch (error) {
      if (!(error instanceof ShellError) || error.fault !== 'host-key') throw error
      const shown = String(error.cause)
      book.setMachine({ ...known, unknownHostKey: shown })
      const about = { name: address, keys: block, pinned: known.hostKey }
      throw new ShellError('host-key', hostKeyText(shown, about, this.#deps))
    }
  }

  async #wayTo({ block }: PlannedMachine, signal: AbortSignal): Promise<Way | undefined> {
    const { edge, hub } = this.#deps
    const { jump, via, viaCluster } = block
    if (jump !== undefined) return this.#jumps.wayThrough(jump, signal)
    const clusterName = via === 'Site' ? clusterNameOfEdge(edge) : viaCluster
    if (clusterName === undefined) return undefined
    return {
      text: `through cluster ${clusterName}`,
      judgesAddress: true,
      dial: (to, scope) => hub.dial({ ...to, clusterName }, edge, scope),
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#jumps[Symbol.asyncDispose]()
  }
}

/** Opens a jump host with the login of its Secret, and keeps the host key that it showed. */
async function openJump(
  jump: JumpHost,
  deps: MachineOpenerDeps,
  signal: AbortSignal,
): Promise<Jump> {
  const { book, openJump: open } = deps
  if (open === undefined) throw new ShellError('refused', 'this hub opens no jump hosts')
  const { address, port = 22, user = 'root', credentials } = jump
  const login = await loginFor({ address, port, user, block: { credentials } }, deps, signal)
  const known = book.jump(jumpText(jump)) ?? { address, port }
  const request = {
    address,
    login,
    isHostKeyAccepted: (shown: string) => isAccepted(shown, jump, known.hostKey),
  }
  const { unknownHostKey: _, ...rest } = known
  try {
    const opened = await open(request, signal)
    book.setJump({ ...rest, hostKey: opened.hostKey })
    return opened
  } catch (error) {
    if (!(error instanceof ShellError) || error.fault !== 'host-key') throw error
    const shown = String(error.cause)
    book.setJump({ ...known, unknownHostKey: shown })
    const about = { name: jumpText(jump), isJump: true, keys: jump, pinned: known.hostKey }
    throw new ShellError('host-key', hostKeyText(shown, about, deps))
  }
}

async function loginFor(
  place: LoginPlace,
  { edge, context, redactor }: MachineOpenerDeps,
  signal: AbortSignal,
): Promise<Login> {
  const { name } = place.block.credentials
  const namespace = edge.metadata.namespace ?? ''
  const secrets = context.cluster.resource(resources.secrets)
  const secret: Secret | undefined = await ifThere(secrets.get({ namespace, name }, signal))
  const login = loginOf(place, secret)
  redactor.add(secretsOf(login))
  return login
}

/** Any step may print the login of the proxy, also long after the one that wrote it, when this hub has not read it yet. */
async function concealProxy(
  { edge, context, redactor }: MachineOpenerDeps,
  signal: AbortSignal,
): Promise<void> {
  const name = edge.spec.proxy?.credentials?.name
  if (name === undefined) return
  const namespace = edge.metadata.namespace ?? ''
  const secrets = context.cluster.resource(resources.secrets)
  const secret: Secret | undefined = await ifThere(secrets.get({ namespace, name }, signal))
  const value = (key: string): string =>
    Buffer.from(secret?.data?.[key] ?? '', 'base64')
      .toString('utf8')
      .replace(/\r?\n$/, '')
  redactor.add(proxySecrets({ username: value('username'), password: value('password') }))
}

type KeyRules = Pick<JumpHost, 'hostKeys' | 'acceptNewHostKeys'>

/** Fingerprints in the spec are the only ones that count; otherwise the kept one, or a first one if those are taken. */
function isAccepted(
  shown: string,
  { hostKeys = [], acceptNewHostKeys = false }: KeyRules,
  pinned: string | undefined,
): boolean {
  if (hostKeys.length > 0) return hostKeys.includes(shown)
  return pinned === undefined ? acceptNewHostKeys : pinned === shown
}

interface Shown {
  /** The name of the machine or jump host, as asks use it. */
  readonly name: string
  readonly isJump?: boolean
  readonly keys: KeyRules
  readonly pinned: string | undefined
}

function hostKeyText(
  shown: string,
  { name: place, isJump = false, keys, pinned }: Shown,
  { edge }: MachineOpenerDeps,
): string {
  const expected = keys.hostKeys?.length ? keys.hostKeys.join(' or ') : pinned
  const { namespace = '', name = '' } = edge.metadata
  const accept = `skerry edge-cluster accept-host-key ${name} ${place}=${shown} --namespace ${namespace}`
  const [who, what, field] = isJump
    ? [`Jump host ${place}`, 'another host', 'spec.machines[].jump.hostKeys']
    : [place, 'another machine', 'spec.machines[].hostKeys']
  return expected === undefined
    ? `${who} shows host key ${shown}, which is not known; compare it with the machine's own (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), then run "${accept}"`
    : `${who} shows host key ${shown} instead of ${expected}: it is ${what}, or was installed again, or somebody is between it and the hub; correct ${field}, or run "${accept}"`
}
