/** Machines that are added to an edge cluster at once, and the patch that adds them. Pure. */
import { filled, labelsOf, numberOf, wordsOf } from '../../data/browser/form-values.ts'
import type { FieldFault } from '../../data/hub/hub-error.ts'
import { emptyLogin, type LoginForm } from '../../data/hub/login-secret.ts'

export const ways = ['direct', 'jump', 'site', 'cluster'] as const

export interface BatchForm {
  readonly source: 'addresses' | 'csv'
  /** Addresses, separated by commas or spaces; `10.0.0.[11-14]` stands for four. */
  readonly addresses: string
  /** Lines of address, user, port, credentials and labels. */
  readonly csv: string
  readonly user: string
  readonly port: string
  readonly labels: string
  readonly role: 'Node' | 'Master' | 'Witness'
  /** A cluster of one master on SQLite moves to etcd, which further masters need. */
  readonly movesToEtcd: boolean
  readonly login: LoginForm
  readonly acceptsNewKeys: boolean
  readonly way: (typeof ways)[number]
  readonly jumpAddress: string
  readonly jumpUser: string
  readonly jumpSecret: string
  readonly viaCluster: string
  /** How many machines the hub works on at the same time. */
  readonly atOnce: string
}

export const emptyBatch: BatchForm = Object.freeze({
  source: 'addresses',
  addresses: '',
  csv: '',
  user: '',
  port: '',
  labels: '',
  role: 'Node',
  movesToEtcd: false,
  login: emptyLogin,
  acceptsNewKeys: false,
  way: 'direct',
  jumpAddress: '',
  jumpUser: '',
  jumpSecret: '',
  viaCluster: '',
  atOnce: '',
})

export const csvColumns = ['address', 'user', 'port', 'credentials', 'labels'] as const

/** A line that cannot be read: the reasons are words for which the page has texts. */
export interface LineFault {
  /** From 1. */
  readonly line: number
  readonly why: 'fields' | 'quotes' | 'address'
}

export interface Batch {
  readonly blocks: readonly Readonly<Record<string, unknown>>[]
  /** The line of each block; empty if the machines were not given as lines. */
  readonly lines: readonly number[]
  readonly faults: readonly LineFault[]
}

/** Returns the blocks of the machines. `secret` is the login of those that name none of their own. */
export function batchOf(form: BatchForm, secret: string): Batch {
  if (form.source === 'csv') return batchOfLines(form, secret)
  const addresses = wordsOf(form.addresses)
  if (addresses === undefined) return { blocks: [], lines: [], faults: [] }
  const block = blockOf(form, { addresses, user: form.user, port: form.port, secret, labels: '' })
  return { blocks: [block], lines: [], faults: [] }
}

function batchOfLines(form: BatchForm, secret: string): Batch {
  const blocks: Readonly<Record<string, unknown>>[] = []
  const lines: number[] = []
  const faults: LineFault[] = []
  for (const [at, raw] of form.csv.split(/\r?\n/).entries()) {
    const text = raw.trim()
    if (text === '' || text.startsWith('#')) continue
    const fields = text.split(',').map((field) => field.trim())
    if (fields.join() === csvColumns.slice(0, fields.length).join()) continue
    const why = whyNot(text, fields)
    if (why !== undefined) {
      faults.push({ line: at + 1, why })
      continue
    }
    const [address = '', user = '', port = '', own = '', labels = ''] = fields
    const machine = {
      addresses: [address],
      user: user || form.user,
      port: port || form.port,
      secret: own || secret,
      labels,
    }
    blocks.push(blockOf(form, machine))
    lines.push(at + 1)
  }
  return { blocks, lines, faults }
}

function whyNot(text: string, fields: readonly string[]): LineFault['why'] | undefined {
  if (text.includes('"')) return 'quotes'
  if (fields.length > csvColumns.length) return 'fields'
  return fields[0] === '' ? 'address' : undefined
}

interface Machine {
  readonly addresses: readonly string[]
  readonly user: string
  readonly port: string
  readonly secret: string
  /** In addition to those of all machines. */
  readonly labels: string
}

function blockOf(form: BatchForm, machine: Machine): Readonly<Record<string, unknown>> {
  const { addresses, user, port, secret, labels } = machine
  return filled({
    addresses,
    user: user.trim(),
    port: numberOf(port),
    role: form.role === 'Node' ? undefined : form.role,
    credentials: { name: secret.trim() },
    acceptNewHostKeys: form.acceptsNewKeys ? true : undefined,
    labels: { ...labelsOf(form.labels), ...labelsOf(labels) },
    ...wayOf(form),
  })
}

function wayOf(form: BatchForm): Readonly<Record<string, unknown>> {
  switch (form.way) {
    case 'direct':
      return {}
    case 'site':
      return { via: 'Site' }
    case 'cluster':
      return { viaCluster: form.viaCluster.trim() }
    case 'jump':
      return {
        jump: filled({
          address: form.jumpAddress.trim(),
          user: form.jumpUser.trim(),
          credentials: { name: form.jumpSecret.trim() },
          acceptNewHostKeys: form.acceptsNewKeys ? true : undefined,
        }),
      }
  }
}

/** Returns the JSON patch of the edge cluster. */
export function batchPatch({ blocks }: Batch, form: BatchForm): unknown[] {
  const machines = blocks.map((value) => ({ op: 'add', path: '/spec/machines/-', value }))
  const number = numberOf(form.atOnce)
  const isMoved = form.role !== 'Node' && form.movesToEtcd
  return [
    ...(isMoved ? [{ op: 'add', path: '/spec/store', value: { type: 'Etcd' } }] : []),
    ...machines,
    ...(number === undefined ? [] : [{ op: 'add', path: '/spec/machinesAtOnce', value: number }]),
  ]
}

const blockFields: Readonly<Record<string, string>> = {
  addresses: 'addresses',
  user: 'user',
  port: 'port',
  credentials: 'login',
  labels: 'labels',
  jump: 'jump',
  via: 'way',
  viaCluster: 'viaCluster',
}

/**
 * Returns the hub's faults by the field of the form, those of lines by `csv` with the number of the line before. The empty
 * text has those of blocks that were there before, and of other fields.
 */
export function batchFaults(
  faults: readonly FieldFault[],
  { lines }: Batch,
  blocksBefore: number,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const { field, message } of faults) {
    const [key, text] = placeOf(field, message, { lines, blocksBefore })
    const texts = found.get(key) ?? []
    if (!texts.includes(text)) found.set(key, [...texts, text])
  }
  return found
}

function placeOf(
  field: string,
  message: string,
  { lines, blocksBefore }: { readonly lines: readonly number[]; readonly blocksBefore: number },
): readonly [key: string, text: string] {
  if (field === 'spec.machinesAtOnce') return ['atOnce', message]
  const [, index = '', name = ''] = /^spec\.machines\[(\d+)\]\.?(\w*)/.exec(field) ?? []
  const at = Number(index) - blocksBefore
  if (index === '' || at < 0) return ['', message]
  const line = lines[at]
  if (line !== undefined) return ['csv', `${line}: ${message}`]
  return [blockFields[name] ?? 'addresses', message]
}
