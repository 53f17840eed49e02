import type { KubeObject } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import { kindKey } from '@skerry/fleet-kinds'
import type { InterpreterOperation } from '../contract/resource-interpreter.ts'

/** A config.karmada.io/v1alpha1 ResourceInterpreterCustomization: scripts in Lua for one kind. */
export interface Customization extends KubeObject {
  spec: {
    target: { apiVersion: string; kind: string }
    customizations: Partial<Record<CustomizationRule, { luaScript?: string }>>
  }
}

export type CustomizationRule =
  | 'retention'
  | 'replicaResource'
  | 'componentResource'
  | 'replicaRevision'
  | 'statusReflection'
  | 'statusAggregation'
  | 'healthInterpretation'
  | 'dependencyInterpretation'

export const customizationResource: TypedResource<Customization> = Object.freeze({
  group: 'config.karmada.io',
  version: 'v1alpha1',
  resource: 'resourceinterpretercustomizations',
  isNamespaced: false,
})

/** One script with its origin. */
export interface CustomScript {
  readonly customization: string
  readonly rule: CustomizationRule
  readonly text: string
}

const ruleOf: Readonly<Partial<Record<InterpreterOperation, CustomizationRule>>> = Object.freeze({
  Retain: 'retention',
  InterpretReplica: 'replicaResource',
  InterpretComponent: 'componentResource',
  ReviseReplica: 'replicaRevision',
  InterpretStatus: 'statusReflection',
  AggregateStatus: 'statusAggregation',
  InterpretHealth: 'healthInterpretation',
  InterpretDependency: 'dependencyInterpretation',
})

/** Knows the scripts in force for each kind; if several serve one operation, the first by name wins. */
export class CustomScripts {
  readonly #byKind: ReadonlyMap<string, readonly Customization[]>

  constructor(customizations: readonly Customization[]) {
    const sorted = customizations.toSorted((a, b) =>
      (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1,
    )
    this.#byKind = Map.groupBy(sorted, ({ spec }) => kindKey(spec.target))
  }

  /** Returns no scripts if nobody has customized the operation. Only dependencies may have several. */
  of(
    object: Pick<KubeObject, 'apiVersion' | 'kind'>,
    operation: InterpreterOperation,
  ): readonly CustomScript[] {
    const rule = ruleOf[operation]
    if (rule === undefined) return []
    const scripts = (this.#byKind.get(kindKey(object)) ?? []).flatMap(({ metadata, spec }) => {
      const text = spec.customizations[rule]?.luaScript ?? ''
      return text === '' ? [] : [{ customization: metadata.name ?? '', rule, text }]
    })
    return operation === 'InterpretDependency' ? scripts : scripts.slice(0, 1)
  }
}
