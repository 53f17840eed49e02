/** The commands that do for an object what the pages do, for a person’s own terminal. Pure. */
import type { ObjectName, ResourceName } from '../hub/api-paths.ts'
import { hasLogs, isPod } from '../pods/pod-containers.ts'

/** The ports of a pod or a service, as far as they are read here. */
export interface PortOwner {
  readonly spec?: {
    readonly containers?: readonly {
      readonly ports?: readonly { readonly containerPort: number; readonly protocol?: string }[]
    }[]
    readonly ports?: readonly { readonly port: number; readonly protocol?: string }[]
  }
}

export type CommandKey = 'get' | 'describe' | 'edit' | 'logs' | 'shell' | 'portForward' | 'forward'

export interface ObjectCommand {
  readonly key: CommandKey
  readonly text: string
}

/**
 * Lists the commands for an object. The contexts are those of the console's kubeconfigs: the name of the cluster, and `hub`
 * for the hub.
 */
export function objectCommands(
  cluster: string | undefined,
  object: ObjectName,
  owner: PortOwner,
): ObjectCommand[] {
  const { resource, name } = object
  const kubectl = kubectlOf(cluster, object)
  const target = shellWord(`${kindOf(object)}/${name}`)
  const commands: ObjectCommand[] = [
    { key: 'get', text: `${kubectl} get ${target} -o yaml` },
    { key: 'describe', text: `${kubectl} describe ${target}` },
    { key: 'edit', text: `${kubectl} edit ${target}` },
  ]
  if (hasLogs(object)) {
    commands.push({ key: 'logs', text: `${kubectl} logs ${target} --all-containers --follow` })
  }
  if (isPod(object)) {
    commands.push({ key: 'shell', text: `${kubectl} exec -it ${target} -- sh` })
  }
  const isService = object.group === '' && resource === 'services'
  if (!isPod(object) && !isService) return commands
  for (const port of tcpPorts(owner)) {
    commands.push({
      key: 'portForward',
      text: `${kubectl} port-forward ${target} ${localPort(port)}:${port}`,
    })
    if (!isService || cluster === undefined) continue
    const { namespace = 'default' } = object
    const service = `${localPort(port)}:${namespace}/${name}:${port}`
    const text = commandLine('skerry', 'forward', cluster, service, '--context', 'hub')
    commands.push({ key: 'forward', text })
  }
  return commands
}

/** Returns the start of a line for kubectl: the context of a cluster or of the hub, and the namespace if there is one. */
export function kubectlOf(
  cluster: string | undefined,
  { namespace }: Pick<ObjectName, 'namespace'> = {},
): string {
  const place = namespace === undefined ? '' : ` -n ${shellWord(namespace)}`
  return `kubectl --context ${shellWord(cluster ?? 'hub')}${place}`
}

/** Returns the command that lists a kind; an empty namespace means all of them, and undefined that it has none. */
export function listCommand(
  cluster: string | undefined,
  kind: ResourceName,
  namespace: string | undefined,
): string {
  const isEverywhere = namespace === ''
  const place = namespace === undefined || isEverywhere ? {} : { namespace }
  const all = isEverywhere ? ' --all-namespaces' : ''
  return `${kubectlOf(cluster, place)} get ${shellWord(kindOf(kind))}${all}`
}

/** Returns the command that asks whether one may do something. Its words may come from the address of a page. */
export function mayCommand(
  cluster: string | undefined,
  { verb, resource, namespace }: { verb: string; resource: string; namespace: string },
): string {
  const place = namespace === '' ? {} : { namespace }
  const all = namespace === '' ? ' --all-namespaces' : ''
  return `${kubectlOf(cluster, place)} auth can-i ${shellWord(verb)} ${shellWord(resource)}${all}`
}

function kindOf({ group, resource }: ResourceName): string {
  return group === '' ? resource : `${resource}.${group}`
}

function tcpPorts({ spec = {} }: PortOwner): number[] {
  const ofPods = (spec.containers ?? []).flatMap(({ ports = [] }) =>
    ports.map(({ containerPort, protocol }) => ({ port: containerPort, protocol })),
  )
  const tcp = [...ofPods, ...(spec.ports ?? [])].filter(
    ({ protocol = 'TCP' }) => protocol === 'TCP',
  )
  return [...new Set(tcp.map(({ port }) => port))]
}

/** Users other than root may not listen on ports below 1024. */
function localPort(port: number): number {
  return port < 1_024 ? 8_000 + port : port
}

/** Joins words to a line for a shell. Names of objects, and words of an address, may have any signs. */
export function commandLine(...words: readonly string[]): string {
  return words.map(shellWord).join(' ')
}

/** Quotes a word for a shell unless it is plain: names of objects may have colons and other signs. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
