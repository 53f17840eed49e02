import { createHash } from 'node:crypto'
import {
  isJsonObject,
  StatusError,
  labelSelectorOf,
  type JsonObject,
  type Node,
  type PodTemplateSpec,
} from '@skerry/api'
import { controllerReference } from '@skerry/controller-runtime'
import type { AppReading, AppWorld } from '../children/app-kind.ts'
import { withApplied, type Child, type Refusal, type WantedChild } from '../children/child.ts'
import { nameFault } from '../children/child-name.ts'
import { contains } from '../children/contains.ts'
import { groupPolicyOf } from '../children/group-policy.ts'
import { placePods } from '../children/place-pods.ts'
import type { Group } from '../groups/group.ts'
import { isReady } from '../groups/label-groups.ts'
import { revisionsOf } from './app-set-revisions.ts'
import { joins, nodePools, type NodePool } from './node-pool.ts'
import { withTweaks } from './tweaks.ts'
import { appSetWords, type PoolChoice, type Tweaks, type YurtAppSet } from './yurt-app-set.ts'

/** Reads an application: the pools that it chooses, and the workload that each of them is to have. */
export function readAppSet(app: YurtAppSet, world: AppWorld): AppReading {
  const pools = world.objects(nodePools).filter(({ metadata }) => !metadata.deletionTimestamp)
  const template = templateOf(app)
  const chosen = chosenPools(app.spec ?? {}, pools)
  const problem = 'message' in template ? template : 'message' in chosen ? chosen : undefined
  const revisions = revisionsOf(app, world.owned)
  const groups = 'message' in chosen ? [] : chosen.map((pool) => groupOf(pool, world.nodes))
  const wanted =
    'message' in template || 'message' in chosen
      ? []
      : chosen.map((pool) =>
          workloadOf(pool, { app, world, template, revision: revisions.current }),
        )
  const names = new Set(groups.map(({ name }) => name))
  return {
    groups,
    ...(problem ? { problem } : {}),
    wanted: [revisions.wanted, ...wanted],
    policy: groupPolicyOf(app.spec?.groupPolicy, { childEdits: 'Keep' }),
    asksToBelong: () => false,
    // A second workload of a pool goes at once, and so does one of another kind.
    groupOf: (child) => {
      const pool = poolOf(child)
      return pool === undefined || names.has(pool) ? undefined : pool
    },
    keeps: revisions.keeps,
  }
}

export function poolOf({ metadata }: Child): string | undefined {
  return metadata.labels?.[appSetWords.pool]
}

interface Template {
  readonly kind: 'Deployment' | 'StatefulSet'
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: JsonObject
}

function templateOf({ spec }: YurtAppSet): Template | Refusal {
  const { statefulSetTemplate, deploymentTemplate } = spec?.workload?.workloadTemplate ?? {}
  const given = statefulSetTemplate ?? deploymentTemplate
  // The definition keeps it as any object.
  const content = given?.spec as JsonObject | undefined
  if (!isJsonObject(content) || !isJsonObject(content['template'])) {
    const message =
      'spec.workload.workloadTemplate needs a deploymentTemplate or a statefulSetTemplate with a template of pods'
    return { reason: 'TemplateNotFound', message }
  }
  return {
    kind: statefulSetTemplate ? 'StatefulSet' : 'Deployment',
    labels: given?.metadata?.labels ?? {},
    annotations: given?.metadata?.annotations ?? {},
    spec: content,
  }
}

/** Returns the pools that are named or selected, by name. An empty selector selects all, as in OpenYurt. */
function chosenPools(choice: PoolChoice, pools: readonly NodePool[]): NodePool[] | Refusal {
  try {
    const isChosen = choiceTest(choice)
    const chosen = pools.filter(isChosen)
    return chosen.toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return { reason: 'InvalidSelector', message: error.message }
  }
}

function choiceTest({ pools = [], nodepoolSelector }: PoolChoice): (pool: NodePool) => boolean {
  const selector = nodepoolSelector && labelSelectorOf(nodepoolSelector)
  return ({ metadata: { name = '', labels } }) =>
    pools.includes(name) || selector?.matches(labels) === true
}

function groupOf({ metadata: { name = '' } }: NodePool, all: readonly Node[]): Group {
  const nodes = all.filter(({ metadata }) => metadata.labels?.[joins] === name)
  const nodeSelector = { [joins]: name }
  return { name, nodeSelector, nodes: nodes.length, readyNodes: nodes.filter(isReady).length }
}

interface Workload {
  readonly app: YurtAppSet
  readonly world: AppWorld
  readonly template: Template
  /** The name of the revision. */
  readonly revision: string
}

function workloadOf(pool: NodePool, { app, world, template, revision }: Workload): WantedChild {
  const { name: group = '' } = pool.metadata
  const { kind } = template
  const present = world.owned
    .filter((child) => child.kind === kind && poolOf(child) === group)
    .toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))[0]
  const prefix = prefixOf(app, group, kind)
  const name = present?.metadata.name ?? `${prefix}${suffixOf(app, group)}`
  const refused = (reason: string, message: string): WantedChild => ({
    group,
    kind,
    name,
    manifest: { reason, message },
  })
  const fault = nameFault(kind, name)
  if (fault !== undefined) return refused('InvalidName', `"${name}" cannot be a name: ${fault}`)
  try {
    const own = {
      labels: {
        [appSetWords.pool]: group,
        [appSetWords.revision]: revision,
        [appSetWords.owner]: app.metadata.name ?? '',
      },
      annotations: { [appSetWords.poolNote]: group },
    }
    const content = contentOf(pool, { app, template, own })
    if ('reason' in content) return refused(content.reason, content.message)
    const manifest = {
      apiVersion: 'apps/v1',
      kind,
      metadata: {
        name,
        generateName: prefix,
        namespace: app.metadata.namespace ?? '',
        labels: { ...content.labels, ...own.labels },
        annotations: { ...content.annotations, ...own.annotations },
        ownerReferences: [controllerReference(app)],
      },
      spec: withRevision(content.spec, present, revision),
    }
    return { group, kind, name, manifest: withApplied(group, manifest) }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return refused('InvalidTweak', error.message)
  }
}

type Texts = Readonly<Record<string, string>>

interface Content {
  readonly labels: Texts
  readonly annotations: Texts
  readonly spec: JsonObject
}

interface ContentView extends Pick<Workload, 'app' | 'template'> {
  /** Labels and annotations by which a workload is known. */
  readonly own: Omit<Content, 'spec'>
}

/** Selects pods of this pool only, and places them there; then come the differences of the pool. */
function contentOf(pool: NodePool, { app, template, own }: ContentView): Content | Refusal {
  const { name = '' } = pool.metadata
  const selector = isJsonObject(template.spec['selector']) ? template.spec['selector'] : {}
  const matchLabels = isJsonObject(selector['matchLabels']) ? selector['matchLabels'] : {}
  // The server checks the template when the child is applied.
  const pods = template.spec['template'] as PodTemplateSpec
  const placed = placePods(pods, { nodeSelector: { [joins]: name } })
  if (!placed.template) return { reason: 'Contradiction', message: placed.contradiction }
  const { metadata } = placed.template
  const labels = { ...metadata?.labels, [appSetWords.pool]: name }
  const spec = {
    ...template.spec,
    selector: { ...selector, matchLabels: { ...matchLabels, [appSetWords.pool]: name } },
    template: { ...placed.template, metadata: { ...metadata, labels } },
  }
  const whole = {
    apiVersion: 'apps/v1',
    kind: template.kind,
    metadata: {
      labels: { ...template.labels, ...own.labels },
      annotations: { ...template.annotations, ...own.annotations },
    },
    spec,
  }
  const tweaked = withTweaks(whole, tweaksOf(app, pool), name)
  const tweakedMetadata = isJsonObject(tweaked['metadata']) ? tweaked['metadata'] : {}
  if (!isJsonObject(tweaked['spec'])) throw new RangeError('the patches leave no spec')
  return {
    labels: textsOf(tweakedMetadata['labels']),
    annotations: textsOf(tweakedMetadata['annotations']),
    spec: tweaked['spec'],
  }
}

function textsOf(value: unknown): Texts {
  if (!isJsonObject(value)) return {}
  return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, String(text)]))
}

function tweaksOf({ spec }: YurtAppSet, pool: NodePool): Tweaks[] {
  return (spec?.workload?.workloadTweaks ?? [])
    .filter((each) => isChosenBy(each, pool))
    .map(({ tweaks = {} }) => tweaks)
}

function isChosenBy(choice: PoolChoice, pool: NodePool): boolean {
  try {
    return choiceTest(choice)(pool)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw new RangeError(`a nodepoolSelector of workloadTweaks is invalid: ${error.message}`, {
      cause: error,
    })
  }
}

/**
 * Labels the pods with the revision that they run. A change for other pools makes a revision, too: pods that run their
 * template keep the label that they have, as another one would replace them all.
 */
function withRevision(spec: JsonObject, present: Child | undefined, revision: string): JsonObject {
  const template = isJsonObject(spec['template']) ? spec['template'] : {}
  const metadata = isJsonObject(template['metadata']) ? template['metadata'] : {}
  const labels = isJsonObject(metadata['labels']) ? metadata['labels'] : {}
  const label = runningRevision(present, template) ?? revision
  const labelled = { ...metadata, labels: { ...labels, [appSetWords.revision]: label } }
  return { ...spec, template: { ...template, metadata: labelled } }
}

function runningRevision(present: Child | undefined, template: JsonObject): string | undefined {
  const running = present?.spec?.['template']
  if (!isJsonObject(running) || !contains(running, template)) return undefined
  const metadata = isJsonObject(running['metadata']) ? running['metadata'] : {}
  const labels = isJsonObject(metadata['labels']) ? metadata['labels'] : {}
  const label = labels[appSetWords.revision]
  return typeof label === 'string' ? label : undefined
}

/** Leaves the name of the pool out if the name of the workload would be invalid with it. */
function prefixOf({ metadata: { name = '' } }: YurtAppSet, pool: string, kind: string): string {
  const prefix = `${name}-${pool}-`
  return nameFault(kind, `${prefix}${'a'.repeat(suffixLength)}`) === undefined ? prefix : `${name}-`
}

const suffixLength = 5
const letters = 'bcdfghjklmnpqrstvwxz2456789'

/** Returns the letters of a generated name. They are always the same, so that no second workload can be made. */
function suffixOf({ metadata: { uid = '' } }: YurtAppSet, pool: string): string {
  const hash = createHash('sha256').update(`${uid}/${pool}`).digest()
  return [...hash.subarray(0, suffixLength)].map((byte) => letters[byte % letters.length]).join('')
}
