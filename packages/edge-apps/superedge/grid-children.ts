import { checkQualifiedName, isJsonObject } from '@skerry/api'
import { controllerReference } from '@skerry/controller-runtime'
import type { App, AppReading, AppWorld } from '../children/app-kind.ts'
import {
  annotations,
  withApplied,
  type Child,
  type Refusal,
  type WantedChild,
} from '../children/child.ts'
import { nameFault } from '../children/child-name.ts'
import { contains } from '../children/contains.ts'
import { contentHash } from '../children/content-hash.ts'
import { groupPolicyOf } from '../children/group-policy.ts'
import { placePods } from '../children/place-pods.ts'
import type { Group } from '../groups/group.ts'
import { groupsByLabel } from '../groups/label-groups.ts'
import { gridLabels, type WorkloadGrid } from './grid.ts'

/** The kind of a grid's children. */
export interface ChildKind {
  readonly kind: 'Deployment' | 'StatefulSet'
  /** The grid as SuperEdge's events call it. */
  readonly gridText: string
}

/** Reads a grid: its units, and the child that each of them is to have. */
export function readGrid(grid: WorkloadGrid, world: AppWorld, kind: ChildKind): AppReading {
  const { gridUniqKey: key = '', groupPolicy } = grid.spec ?? {}
  const groups = key === '' ? [] : groupsByLabel(key, world.nodes)
  const problem = keyProblem(key, kind.gridText)
  const unused = unusedTemplates(grid)
  return {
    groups,
    ...(problem ? { problem } : {}),
    wanted: problem ? [] : groups.map((each) => wantedChild(grid, each, { kind, world })),
    policy: groupPolicyOf(groupPolicy),
    asksToBelong: ({ metadata }) => metadata.labels?.[gridLabels.selector] === grid.metadata.name,
    groupOf: (child) => unitOf(child, key),
    ...(unused ? { ownPatch: { spec: { templatePool: unused } } } : {}),
  }
}

export function keyProblem(key: string, gridText: string): Refusal | undefined {
  if (key === '') return { reason: 'Empty', message: `This ${gridText} has an empty grid key` }
  const [fault] = checkQualifiedName(key)
  if (fault === undefined) return undefined
  return {
    reason: 'InvalidKey',
    message: `gridUniqKey "${key}" is not the key of a label: ${fault}`,
  }
}

/** Returns the unit of a child, or undefined if it is a child by another key. */
function unitOf(child: Child, key: string): string | undefined {
  const { labels = {}, annotations: notes = {} } = child.metadata
  if (labels[gridLabels.key] !== key) return undefined
  const known = notes[annotations.group]
  if (known !== undefined) return known
  // One that SuperEdge made has no such annotation.
  const template = child.spec?.['template']
  const podSpec = isJsonObject(template) ? template['spec'] : undefined
  const selector = isJsonObject(podSpec) ? podSpec['nodeSelector'] : undefined
  const value = isJsonObject(selector) ? selector[key] : undefined
  return typeof value === 'string' ? value : undefined
}

function wantedChild(
  grid: WorkloadGrid,
  group: Group,
  { kind, world }: { kind: ChildKind; world: AppWorld },
): WantedChild {
  const name = `${grid.metadata.name}-${group.name}`
  const fault = nameFault(kind.kind, name)
  const refused = (reason: string, message: string): WantedChild => ({
    group: group.name,
    kind: kind.kind,
    name,
    manifest: { reason, message },
  })
  if (fault !== undefined) return refused('InvalidName', `"${name}" cannot be a name: ${fault}`)
  const found = templateOf(grid, group.name)
  if ('message' in found) return refused(found.reason, found.message)
  const { template, ...spec } = found.spec
  const { contradiction, template: placed } = placePods(withoutHash(template), group)
  if (placed === undefined) return refused('Contradiction', contradiction)
  const hash = hashOf(withoutHash(template), world.named(kind.kind, name))
  const { metadata } = placed
  const labelled = { ...metadata, labels: { ...metadata?.labels, [gridLabels.hash]: hash } }
  const manifest = {
    apiVersion: 'apps/v1',
    kind: kind.kind,
    metadata: childMetadata(grid, name),
    spec: { ...spec, template: { ...placed, metadata: labelled } },
  }
  return {
    group: group.name,
    kind: kind.kind,
    name,
    manifest: withApplied(group.name, manifest),
  }
}

/** The grid's labels and two of its own; the grid's annotations stay with it. */
export function childMetadata(
  grid: App & { spec?: { gridUniqKey?: string } },
  name: string,
): Child['metadata'] {
  const { namespace = '', labels = {}, name: gridName = '' } = grid.metadata
  const own = { [gridLabels.selector]: gridName, [gridLabels.key]: grid.spec?.gridUniqKey ?? '' }
  return {
    name,
    namespace,
    labels: { ...labels, ...own },
    ownerReferences: [controllerReference(grid)],
  }
}

type Template = NonNullable<NonNullable<WorkloadGrid['spec']>['template']>

function templateOf({ spec = {} }: WorkloadGrid, unit: string): { spec: Template } | Refusal {
  const { template, templatePool = {}, templates = {}, defaultTemplateName } = spec
  const name = templates[unit] || defaultTemplateName || 'default'
  const found = name === 'default' ? template : templatePool[name]
  if (found?.template !== undefined) return { spec: found }
  const message =
    name === 'default'
      ? 'spec.template has no template of pods'
      : `spec.templatePool has no template "${name}" with a template of pods`
  return { reason: 'TemplateNotFound', message }
}

/** Returns a patch that removes the unused ones; never while a name is unknown, which may be a slip. */
function unusedTemplates({ spec = {} }: WorkloadGrid): Record<string, null> | undefined {
  const { templatePool = {}, templates = {}, defaultTemplateName = 'default' } = spec
  if (spec.autoDeleteUnusedTemplate !== true) return undefined
  const used = new Set([...Object.values(templates), defaultTemplateName])
  const isKnown = [...used].every((name) => name === 'default' || name in templatePool)
  const unused = Object.keys(templatePool).filter((name) => !used.has(name))
  if (!isKnown || unused.length === 0) return undefined
  return Object.fromEntries(unused.map((name) => [name, null]))
}

type PodTemplate = Template['template']

/** SuperEdge writes its label into the grid; the label does not count as a part of the template. */
function withoutHash(template: PodTemplate): PodTemplate {
  const { [gridLabels.hash]: _hash, ...labels } = template.metadata?.labels ?? {}
  return { ...template, metadata: { ...template.metadata, labels } }
}

/**
 * Returns the label that marks a version of the template. A child that runs this template already keeps the label that it
 * has, e.g. from SuperEdge, whose hashes differ: another one would replace all its pods.
 */
function hashOf(template: PodTemplate, existing: Child | undefined): string {
  const running = existing?.spec?.['template']
  // SuperEdge's label is a decimal number of 64 bits.
  const hash = BigInt(`0x${contentHash(template)}`).toString()
  if (!isJsonObject(running)) return hash
  const known = isJsonObject(running['metadata']) ? running['metadata']['labels'] : undefined
  const label = isJsonObject(known) ? known[gridLabels.hash] : undefined
  return typeof label === 'string' && contains(running, template) ? label : hash
}
