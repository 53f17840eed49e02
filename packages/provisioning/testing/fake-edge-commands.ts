import type { RunResult } from '../contract/shell.ts'
import { takeBackFilesScript } from '../ensure/copied-files.ts'
import { factsScript } from '../ensure/preflight-script.ts'
import { takeScript } from '../ensure/take-script.ts'
import { holderScript } from '../ensure/holder-script.ts'
import type { NodeSettings } from '../kind/node-settings.ts'
import type { FakeEdgeMachine } from './fake-edge.ts'

type Result = Partial<RunResult>
type Act = (machine: FakeEdgeMachine, words: readonly string[], input: string) => Result

/** Runs a command as a machine of an edge cluster does. */
export function runOnFakeEdge(
  machine: FakeEdgeMachine,
  all: readonly string[],
  input: string,
): Result {
  const command = all[0] === 'env' ? all.slice(1).filter((word) => !/^[A-Z_]+=/.test(word)) : all
  const [name = '', ...words] = command
  if (name.startsWith('/etc/skerry/hook-')) {
    return machine.files.has(name) ? printed('the hook ran') : failed('no such file', 127)
  }
  const isProgram = name === '/usr/local/bin/skerry' || name.endsWith('/launcher')
  if (isProgram && !machine.files.has(name)) return failed('no such file', 127)
  const act = isProgram ? skerry : commands[name]
  if (act !== undefined) return act(machine, words, input)
  return unknown(machine, command)
}

function unknown({ edge }: FakeEdgeMachine, command: readonly string[]): Result {
  edge.unknown.push(command.join(' '))
  return failed(`unknown command ${command.join(' ')}`, 127)
}

function printed(stdout: string): Result {
  return { stdout: `${stdout}\n` }
}

function failed(stderr: string, exitCode = 1): Result {
  return { exitCode, stderr }
}

const ok: Act = () => ({})
const paths = (words: readonly string[]): string[] => words.filter((word) => word.startsWith('/'))
const below = (path: string) => (each: string) => each === path || each.startsWith(`${path}/`)

function removeBelow({ files }: FakeEdgeMachine, path: string): void {
  for (const each of [...files.keys()].filter(below(path))) files.delete(each)
}

function isThere({ files }: FakeEdgeMachine, path: string): boolean {
  return [...files.keys()].some(below(path))
}

const commands: Readonly<Record<string, Act>> = {
  sync: ok,
  tar: ok,
  journalctl: ok,
  bash: (_machine, words) =>
    printed(
      words
        .slice(4)
        .map((port) => `port ${port} 500`)
        .join('\n'),
    ),
  uname: ({ name }, [flag]) => printed(flag === '-m' ? 'x86_64' : name),
  date({ edge }, [format]) {
    const nowMs = edge.clock.now()
    return printed(String(format === '+%s' ? Math.floor(nowMs / 1_000) : nowMs))
  },
  ip({ address }) {
    const addr_info = [{ local: address, prefixlen: 24 }]
    return printed(JSON.stringify([{ ifname: 'eth0', addr_info }]))
  },
  cat({ files }, words) {
    const stdout = files.get(words.at(-1) ?? '')
    return stdout === undefined ? failed('No such file') : { stdout }
  },
  test(machine, [flag, path = '']) {
    const isFile = machine.files.has(path)
    return { exitCode: flag === '-d' ? Number(isFile) : Number(!isThere(machine, path)) }
  },
  ls(machine, words) {
    const there = paths(words).filter((path) => isThere(machine, path))
    if (words.includes('-d')) return { exitCode: 2, stdout: `${there.join('\n')}\n` }
    const [path = ''] = there
    const names = [...machine.files.keys()]
      .filter((each) => each.startsWith(`${path}/`))
      .map((each) => each.slice(path.length + 1).split('/')[0])
    return path === '' ? { exitCode: 2 } : printed([...new Set(names)].join('\n'))
  },
  install({ files }, words) {
    if (words.includes('-d')) return {}
    const [from = '', to = ''] = paths(words)
    const content = files.get(from)
    if (content === undefined) return failed(`${from}: no such file`)
    files.set(to, content)
    return {}
  },
  cp: (machine, words) => commands.install?.(machine, words, '') ?? {},
  mv(machine, words) {
    const [from = ''] = paths(words)
    const moved = commands.install?.(machine, words, '') ?? {}
    machine.files.delete(from)
    return moved
  },
  rm(machine, words) {
    for (const path of paths(words)) removeBelow(machine, path)
    return {}
  },
  sha256sum({ files }, _words, input) {
    const named = input.split('\n').map((line) => line.slice(66))
    return printed(named.flatMap((path) => (files.has(path) ? [`${path}: OK`] : [])).join('\n'))
  },
  sh(machine, [, script = '', , record], input) {
    if (script === takeScript) return take(machine, input)
    if (script === factsScript) return printed(factsOf(machine))
    if (script === holderScript) return {}
    if (script === takeBackFilesScript) return takeBack(machine, record)
    if (script.includes('dpkg-query')) {
      return printed('release debian-12\narchitecture x86_64\nfree 90000000')
    }
    return unknown(machine, ['sh', '-c', script])
  },
  systemctl(machine, words) {
    const [verb = ''] = words
    const unit = (words.at(-1) ?? '').replace('.service', '')
    const act = units[verb]
    return act === undefined ? unknown(machine, ['systemctl', ...words]) : act(machine, unit)
  },
}

function factsOf(machine: FakeEdgeMachine): string {
  const { name, edge, files } = machine
  const ours = files.get('/var/lib/skerry/settings.json') ?? files.get('/etc/skerry/machine.json')
  return [
    'os debian 12',
    'architecture x86_64',
    'kernel 6.1.0',
    `host ${name}`,
    `time ${Math.floor(edge.clock.now() / 1_000)}`,
    'cgroup cgroup2fs',
    'processors 2',
    'memory 4000000',
    'disk 90000000',
    'init systemd',
    'module overlay',
    'module br_netfilter',
    'packages apt',
    ...(ours === undefined ? [] : [`ours ${ours}`]),
  ].join('\n')
}

function take({ files }: FakeEdgeMachine, plan: string): Result {
  const path = '/etc/skerry/machine.json'
  const known = files.get('/var/lib/skerry/settings.json') ?? files.get(path)
  if (known === undefined) files.set(path, plan)
  return { stdout: known ?? plan }
}

/** Does the work of the script: it knows files and what they have replaced. */
function takeBack(machine: FakeEdgeMachine, record = '/var/lib/skerry/copied-files'): Result {
  const { files } = machine
  for (const line of (files.get(record) ?? '').split('\n')) {
    const [kind, value = '', path = ''] = line.split(' ')
    if (kind === 'file') files.delete(path)
    const before = files.get(`/var/lib/skerry/replaced-files/${value}`)
    if (kind === 'replaced' && before !== undefined) files.set(path, before)
  }
  return {}
}

const units: Readonly<Record<string, (machine: FakeEdgeMachine, unit: string) => Result>> = {
  'daemon-reload': () => ({}),
  reload: ({ running }, unit) => ({ exitCode: running.has(unit) ? 0 : 1 }),
  'is-active': ({ running }, unit) => ({ exitCode: running.has(unit) ? 0 : 3 }),
  enable({ enabled, files }, unit) {
    if (!files.has(`/etc/systemd/system/${unit}.service`)) return failed(`no unit ${unit}`)
    enabled.add(unit)
    return {}
  },
  stop({ running }, unit) {
    running.delete(unit)
    return {}
  },
  disable({ running, enabled }, unit) {
    running.delete(unit)
    enabled.delete(unit)
    return {}
  },
  restart(machine, unit) {
    machine.running.delete(unit)
    const why = startUnit(machine, unit)
    return why === undefined ? {} : failed(why)
  },
}

/** Starts a unit, with its options of this moment. Returns why it ends at once. */
function startUnit(machine: FakeEdgeMachine, unit: string): string | undefined {
  const { edge, files, running, name } = machine
  if (!files.has(`/etc/systemd/system/${unit}.service`)) return `there is no unit ${unit}`
  const role = unit.replace('skerry-', '')
  const options = files.get(`/etc/skerry/${role}.env`) ?? ''
  const token = files.get(/--token-file (\S+)/.exec(options)?.[1] ?? '')?.trim() ?? ''
  const isMember = role === 'witness' || options.includes('--etcd embedded')
  const member = role === 'witness' ? 'witness' : name
  if (isMember && !edge.voters.has(member)) {
    const isFirst = edge.voters.size === 0 && !options.includes('--join')
    if (!isFirst && !(edge.tokens.has(token) && edge.hasQuorum)) return 'no member lets it join'
    edge.voters.add(member)
  }
  if (role === 'node') {
    const nodeName = /--node-name (\S+)/.exec(options)?.[1] ?? ''
    const before = edge.nodes.get(nodeName)
    if (before === undefined && !edge.tokens.has(token)) return 'its token opens nothing'
    if ((edge.nodeOfToken.get(token) ?? nodeName) !== nodeName) return 'its token is for another'
    if (before === undefined) {
      const labels = [...options.matchAll(/--(?:label|taint) (\S+)/g)].map(([, text = '']) => text)
      edge.nodes.set(nodeName, { isCordoned: false, labels })
    }
  }
  running.set(unit, options)
  const hubToken = files.get('/etc/skerry/hub-token')?.trim() ?? ''
  if (role === 'site') files.set('/var/lib/skerry/site/admin.kubeconfig', 'of the administrator')
  if (role === 'site' && edge.tokens.has(hubToken)) {
    files.set('/var/lib/skerry/site/agent/agent.crt', 'a certificate')
  }
  return undefined
}

const skerry: Act = (machine, words, input) => {
  const [group = '', verb = '', ...rest] = words
  const act = programs[group] ?? programs[`${group} ${verb}`]
  return act === undefined ? unknown(machine, ['skerry', ...words]) : act(machine, rest, input)
}

/** The commands of the program, without the words that say where the data is. */
const programs: Readonly<Record<string, Act>> = {
  '--version': () => printed('0.1.0'),
  'machine prepare': (machine) => prepare(machine),
  'machine install-package': ({ files }, [, digest = '']) => {
    // It brings what the plan asks for, and a node needs without one.
    if (planIn(files)?.hasVirtualIP === true) files.set(keepalived, 'keepalived')
    files.set('/var/lib/skerry/packages/installed.json', JSON.stringify({ digest }))
    return printed('3 system packages, 1 image archives')
  },
  'machine clean': (machine) => clean(machine),
  'machine nodes': ({ isServing, edge }) => {
    const list = [...edge.nodes.keys()].map((name) => ({
      name,
      addresses: [name.slice(2).replaceAll('-', '.')],
    }))
    return isServing ? printed(JSON.stringify(list)) : failed('the site does not answer')
  },
  'machine node-ready': onSite(({ edge }, [name = '']) => {
    const host = [...edge.machines.values()].find((each) => each.name === name)
    const isReady = edge.nodes.has(name) && host?.running.has('skerry-node') === true
    return isReady ? {} : failed(`node ${name} is not Ready`)
  }),
  'machine admit-node': onNode((node, words) => {
    const labels = words.filter((_, at) => words[at - 1] === '--label')
    const isCordoned = words.includes('--uncordon') ? false : node.isCordoned
    return { labels: [...new Set([...node.labels, ...labels])], isCordoned }
  }),
  'machine label-node': (machine, words, input) => {
    if (!machine.edge.knowsLabels) return failed('unknown command', 2)
    // The step that it belongs to has written it.
    const change = JSON.parse(input) as { former: NodeSettings[]; wanted: NodeSettings }
    const gone = change.former.flatMap(settingTexts)
    const given = settingTexts(change.wanted)
    const act = onNode((node) => ({
      ...node,
      labels: [...new Set([...node.labels.filter((each) => !gone.includes(each)), ...given])],
    }))
    return act(machine, words, input)
  },
  'machine drain-node': onNode((node) => ({ ...node, isCordoned: true })),
  'machine delete-node': onSite(({ edge }, [name = '']) => {
    edge.nodes.delete(name)
    return {}
  }),
  'machine apply': onSite((machine, words) => {
    const manifests = machine.files.get(words[1] ?? '')
    if (manifests === undefined) return failed('no such file', 2)
    machine.files.set('/var/lib/skerry/site/applied', manifests)
    return printed('1 object applied')
  }),
  'token create': onSite(({ edge }, words) => {
    const isOfMaster = words.includes('--master') || words.includes('--witness')
    const nodeName = words[words.indexOf('--node-name') + 1]
    const rest = `0123456789abcdef${isOfMaster ? `.${'k'.repeat(43)}` : ''}`
    const token = edge.makeToken(rest, words.includes('--node-name') ? nodeName : undefined)
    return printed(JSON.stringify({ token, caHash: `sha256:${'a'.repeat(64)}` }))
  }),
  'site members': ({ edge, running }) => {
    if (!running.has('skerry-site')) return failed('the site does not run')
    const members = [...edge.voters].map((name) => {
      return { name, isLearner: false, isHealthy: edge.isHealthy(name) }
    })
    return printed(JSON.stringify({ hasQuorum: edge.hasQuorum, state: 'as it is', members }))
  },
  'site remove-member': onSite(({ edge }, words) => {
    const left = [...edge.voters].filter((name) => name !== words.at(-1))
    const healthy = left.filter((name) => edge.isHealthy(name))
    if (healthy.length <= left.length / 2) return failed('the others could not decide')
    edge.voters.delete(words.at(-1) ?? '')
    return {}
  }),
}

function onSite(act: Act): Act {
  return (machine, words, input) =>
    machine.isServing ? act(machine, words, input) : failed('the site does not answer')
}

type Node = { readonly isCordoned: boolean; readonly labels: readonly string[] }

function onNode(change: (node: Node, words: readonly string[]) => Node): Act {
  return onSite(({ edge }, [name = '', ...words]) => {
    const node = edge.nodes.get(name)
    // One that is gone needs no draining.
    if (node !== undefined) edge.nodes.set(name, change(node, words))
    return {}
  })
}

/** Returns labels and taints as options of a node have them. */
function settingTexts({ labels = {}, taints = [] }: NodeSettings): string[] {
  return [
    ...Object.entries(labels).map(([key, value]) => `${key}=${value}`),
    ...taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`),
  ]
}

const keepalived = '/usr/sbin/keepalived'

interface Plan {
  readonly clusterName: string
  readonly role: string
  readonly hasVirtualIP: boolean
  readonly isOffline: boolean
}

function planIn(files: ReadonlyMap<string, string>): Plan | undefined {
  const text = files.get('/etc/skerry/machine.json')
  // The hub's own plan, as a step has written it.
  return text === undefined ? undefined : (JSON.parse(text) as Plan)
}

function prepare({ files }: FakeEdgeMachine): Result {
  const plan = planIn(files)
  if (plan === undefined) return failed('there is no plan', 2)
  if (plan.isOffline && plan.hasVirtualIP && !files.has(keepalived)) {
    return failed('the offline package has brought no keepalived', 5)
  }
  const own = { Master: ['site', 'node'], Node: ['node'], Witness: ['witness'] }[plan.role] ?? []
  const wanted = plan.hasVirtualIP ? [...own, 'virtual-ip'] : own
  for (const role of wanted) files.set(`/etc/systemd/system/skerry-${role}.service`, role)
  if (plan.role !== 'Witness') {
    files.set('/var/lib/skerry/settings.json', JSON.stringify({ clusterName: plan.clusterName }))
  }
  return printed('prepared')
}

function clean(machine: FakeEdgeMachine): Result {
  const { running, enabled, files } = machine
  running.clear()
  enabled.clear()
  takeBack(machine)
  for (const path of ['/etc/skerry', '/var/lib/skerry', '/usr/local']) removeBelow(machine, path)
  for (const path of files.keys()) if (/\/skerry-[\w-]+\.service$/.test(path)) files.delete(path)
  return printed('clean')
}
