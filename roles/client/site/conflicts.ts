import { ageOf } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import { anyObjects, ifThere, type ClusterClient } from '@skerry/client'
import { builtinKinds } from '@skerry/kinds'
import { conflictResource, planChoice, type Conflict, type ConflictSide } from '@skerry/node-api'
import { openAdminCluster } from '../../admin/admin-cluster.ts'
import { hubKubeconfig, type ChosenHub } from '../../admin/chosen-hub.ts'
import { askMs } from '../limits-table.ts'
import { printTable } from '../text/print-table.ts'
import { plainText } from '../text/plain-text.ts'

export interface ConflictsOptions extends ChosenHub {
  readonly output: string | undefined
}

/** Prints the writes of nodes that met another change, or were refused. */
export async function printConflicts(options: ConflictsOptions): Promise<void> {
  const cluster = await openSite(options)
  const { items } = await cluster.resource(conflictResource).list({}, soon())
  if (options.output === 'json') return console.log(JSON.stringify(items))
  if (items.length === 0) return console.log('There are no conflicts')
  const nowMs = Date.now()
  printTable([
    ['NAME', 'OBJECT', 'REASON', 'WINNER', 'CHOICE', 'NODE', 'AGE'],
    ...items.map(({ metadata, spec }) => [
      metadata.name ?? '',
      objectText(spec),
      spec.reason,
      spec.winner,
      spec.choice?.side ?? '-',
      spec.nodeName,
      ageOf(metadata.creationTimestamp, nowMs),
    ]),
  ])
}

/** Prints one conflict with the values of both sides. */
export async function printConflict(options: ConflictsOptions & { name: string }): Promise<void> {
  const cluster = await openSite(options)
  const conflict = await readConflict(cluster, options.name)
  if (options.output === 'json') return console.log(JSON.stringify(conflict))
  const { spec } = conflict
  const { user, operation, writtenAt, foundAt, winner, choice, fields = [] } = spec
  const lines = [
    `Object:   ${objectText(spec)}`,
    `Reason:   ${spec.reason}: ${spec.message}`,
    `Written:  ${operation} by ${user} on ${spec.nodeName} at ${writtenAt}, found at ${foundAt}`,
    `Winner:   ${winner}`,
    ...(choice ? [`Choice:   ${choice.side}, by ${choice.user} at ${choice.time}`] : []),
    ...fields.flatMap(({ path, base, edge, cloud }) => [
      '',
      `${path}`,
      `  before: ${base ?? '-'}`,
      `  edge:   ${edge ?? '-'}`,
      `  cloud:  ${cloud ?? '-'}`,
    ]),
  ]
  // Values may contain control characters.
  for (const line of lines) console.log(plainText(line))
}

export interface ChooseOptions extends ConflictsOptions {
  readonly name: string
  readonly side: ConflictSide
  readonly force: boolean | undefined
}

/** Gives the object the values of the chosen side, with the rights of the caller, and notes the choice. */
export async function chooseSide({ name, side, force, ...options }: ChooseOptions): Promise<void> {
  const cluster = await openSite(options)
  const conflict = await readConflict(cluster, name)
  const done = await carryOut(cluster, conflict, { side, isForced: force === true })
  const signed = { ...conflict, spec: { ...conflict.spec, choice: { side } } }
  await cluster.resource(conflictResource).update(signed, soon())
  if (options.output === 'json') console.log(JSON.stringify({ name, side, change: done }))
  else console.log(`${objectText(conflict.spec)} ${changeTexts[done]} (${side})`)
}

const changeTexts = Object.freeze({
  keep: 'has the chosen values already',
  create: 'is created again',
  update: 'has the chosen values',
  delete: 'is deleted',
})

async function carryOut(
  cluster: ClusterClient,
  { spec, metadata: { name = '' } }: Conflict,
  choice: { side: ConflictSide; isForced: boolean },
): Promise<keyof typeof changeTexts> {
  const { apiVersion, resource, namespace, name: objectName } = spec.object
  const [version = '', group = ''] = apiVersion.split('/').toReversed()
  const kinds = await builtinKinds({ includeBeta: true })
  const kind = kinds.find(
    (each) => each.group === group && each.version === version && each.resource === resource,
  )
  if (!kind) throw refusal(name, `this program does not know ${apiVersion} ${resource}`)
  const { isNamespaced } = kind
  const objects = cluster.resource(anyObjects({ group, version, resource, isNamespaced }))
  const key = { name: objectName, ...(namespace === '' ? {} : { namespace }) }
  const current = await ifThere(objects.get(key, soon()))
  const plan = planChoice(spec, choice, current, kind)
  switch (plan.type) {
    case 'refuse':
      throw refusal(name, plan.why)
    case 'create':
      await objects.create(plan.object, soon(), { fieldManager: 'skerry-conflicts' })
      break
    case 'update':
      await objects.update(plan.object, soon(), { fieldManager: 'skerry-conflicts' })
      break
    case 'delete':
      await objects.delete(key, soon())
      break
    case 'keep':
  }
  return plan.type
}

async function readConflict(cluster: ClusterClient, name: string): Promise<Conflict> {
  const found = await ifThere(cluster.resource(conflictResource).get({ name }, soon()))
  if (found) return found
  const text = `Cannot find the conflict ${name}: "skerry conflicts list" shows all`
  throw new ExpectedError(text, exitCodes.usage)
}

function refusal(name: string, why: string): ExpectedError {
  return new ExpectedError(`Cannot choose a side of ${name}: ${why}`, exitCodes.usage)
}

function objectText({ object: { kind, namespace, name } }: Conflict['spec']): string {
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`
}

async function openSite(options: ChosenHub): Promise<ClusterClient> {
  const isElsewhere = options.kubeconfig !== undefined
  return (await openAdminCluster(hubKubeconfig(options), { isElsewhere })).cluster
}

function soon(): AbortSignal {
  return AbortSignal.timeout(askMs)
}
