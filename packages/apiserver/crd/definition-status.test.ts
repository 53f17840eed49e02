import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CustomResourceDefinition } from '@skerry/api'
import { planStatus } from './definition-status.ts'

const now = '2026-01-01T00:00:00Z'

function definition(
  plural: string,
  rest: Partial<CustomResourceDefinition['spec']['names']> = {},
  group = 'a.example.com',
) {
  const names = { plural, kind: plural.toUpperCase(), ...rest }
  const crd: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Cluster', names, versions: [] },
  }
  return crd
}

function accepted(crd: CustomResourceDefinition): CustomResourceDefinition {
  return { ...crd, status: planned(crd, []) }
}

/** Returns the status at which planning settles. */
const planned = (crd: CustomResourceDefinition, all: readonly CustomResourceDefinition[]) =>
  planStatus({ ...crd, status: planStatus(crd, all, now) }, all, now)

const textsOf = ({ conditions }: ReturnType<typeof planStatus>): string[] =>
  (conditions ?? []).map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  )

const shown = (crd: CustomResourceDefinition, all: readonly CustomResourceDefinition[]) =>
  textsOf(planned(crd, all))

const free = [
  'NamesAccepted=True NoConflicts: no conflicts found',
  'Established=True InitialNamesAccepted: the initial names have been accepted',
]
const refused = 'Established=False NotAccepted: not all names are accepted'

test('a definition is installing before it is established', () => {
  assert.deepEqual(textsOf(planStatus(definition('as'), [], now)), [
    'NamesAccepted=True NoConflicts: no conflicts found',
    'Established=False Installing: the initial names have been accepted',
  ])
})

test('names that another definition of the group has are not accepted, the others are', () => {
  const first = accepted(definition('as', { shortNames: ['x', 'y'] }))
  const table: readonly (readonly [CustomResourceDefinition, string[]])[] = [
    [definition('bs'), free],
    [definition('as', {}, 'other.example.com'), free],
    [
      definition('bs', { shortNames: ['x'] }),
      ['NamesAccepted=False ShortNamesConflict: "x" is already in use', refused],
    ],
    [
      definition('bs', { shortNames: ['y', 'x'] }),
      [
        'NamesAccepted=False ShortNamesConflict: ["y" is already in use, "x" is already in use]',
        refused,
      ],
    ],
    [
      definition('bs', { kind: 'AS' }),
      ['NamesAccepted=False ListKindConflict: "ASList" is already in use', refused],
    ],
    [first, free],
  ]
  for (const [crd, conditions] of table) {
    assert.deepEqual(shown(crd, [first]), conditions)
  }
  const { acceptedNames } = planStatus(definition('bs', { shortNames: ['x'] }), [first], now)
  assert.deepEqual(acceptedNames, { plural: 'bs', singular: 'bs', kind: 'BS', listKind: 'BSList' })
})

test('kinds in groups of the community say who approved them', () => {
  const key = 'api-approved.kubernetes.io'
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111'
  const table: readonly (readonly [string, string])[] = [
    ['https://example.com/1', 'True ApprovedAnnotation: approved in https://example.com/1'],
    ['unapproved, so far', 'False UnapprovedAnnotation: not approved: "unapproved, so far"'],
    [
      '',
      `False MissingAnnotation: protected groups must have approval annotation "${key}", ${see}`,
    ],
    [
      'yes',
      `False InvalidAnnotation: protected groups must have approval annotation "${key}" with either a URL or a reason starting with "unapproved", ${see}`,
    ],
  ]
  for (const [annotation, text] of table) {
    const crd = definition('as', {}, 'a.k8s.io')
    crd.metadata.annotations = { [key]: annotation }
    assert.equal(shown(crd, []).at(-1), `KubernetesAPIApprovalPolicyConformant=${text}`)
  }
})
