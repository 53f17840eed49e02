import type { AnyObject } from '@skerry/api'
import { RecentMap, type Clock } from '@skerry/base'
import {
  jsonOf,
  luaOf,
  LuaLibraries,
  osFunctions,
  readLuaScript,
  type LuaScript,
  LuaError,
  LuaLimitError,
  toText,
  type LuaValue,
} from '@skerry/lua'
import {
  inOneOrder,
  readComponents,
  readDependencies,
  readHealth,
  readObject,
  readReplicas,
  readRequirements,
  readStatus,
} from '../contract/interpreted-values.ts'
import type {
  InterpretedReplicas,
  InterpreterOperation,
  ResourceInterpreter,
} from '../contract/resource-interpreter.ts'
import { CustomizationBudget, type Suspension } from './customization-budget.ts'
import type { CustomScript, CustomScripts } from './customization.ts'
import { kubeFunctions } from './kube-library.ts'
import { interpreterBounds } from '../limits-table.ts'

export type LuaClock = Pick<Clock, 'now' | 'monotonicMs'>

/** A script failed, or returned an invalid result. */
export class CustomizationError extends Error {
  override name = 'CustomizationError'
}

const { scriptsKept } = interpreterBounds.luaInterpreter

/**
 * Interprets kinds with the scripts of their customizations. Each method rejects with a CustomizationError if
 * the script fails, takes too long, or does not exist.
 */
export class LuaInterpreter implements ResourceInterpreter {
  readonly #scripts: () => CustomScripts
  readonly #read = new RecentMap<string, LuaScript | LuaError>(scriptsKept)

  readonly #budget: CustomizationBudget
  readonly #libraries: LuaLibraries

  /** The scripts are asked for before each call: customizations come and go. */
  constructor(
    scripts: () => CustomScripts,
    clock: LuaClock,
    onSuspended?: (suspension: Suspension) => void,
  ) {
    this.#scripts = scripts
    this.#budget = new CustomizationBudget(clock, onSuspended)
    this.#libraries = new LuaLibraries({
      globals: { os: osFunctions(clock) },
      modules: { kube: kubeFunctions },
      timer: clock,
    })
  }

  knows(object: AnyObject, operation: InterpreterOperation): boolean {
    return this.#scripts().of(object, operation).length > 0
  }

  async replicas(object: AnyObject): Promise<InterpretedReplicas> {
    return this.#one({ object, operation: 'InterpretReplica', args: [object] }, (results, json) => {
      const requirements = readRequirements(json(results[1], []))
      const replicas = readReplicas(json(results[0], []))
      return { replicas, ...(requirements ? { requirements } : {}) }
    })
  }

  async components(object: AnyObject) {
    return this.#one({ object, operation: 'InterpretComponent', args: [object] }, ([found], json) =>
      readComponents(found === undefined ? undefined : (json(found, []) ?? [])),
    )
  }

  async reviseReplica(object: AnyObject, replicas: number): Promise<AnyObject> {
    return this.#one(
      { object, operation: 'ReviseReplica', args: [object, replicas] },
      ([found], json) => readObject(json(found, [object]), object),
    )
  }

  async retain(desired: AnyObject, observed: AnyObject): Promise<AnyObject> {
    return this.#one(
      { object: desired, operation: 'Retain', args: [desired, observed] },
      ([found], json) => readObject(json(found, [desired, observed]), desired),
    )
  }

  /** No script prunes. */
  async prune(object: AnyObject): Promise<AnyObject> {
    return object
  }

  async reflectStatus(object: AnyObject) {
    return this.#one({ object, operation: 'InterpretStatus', args: [object] }, ([found], json) =>
      readStatus(found === undefined ? undefined : (json(found, []) ?? {})),
    )
  }

  async aggregateStatus(template: AnyObject, items: readonly unknown[]): Promise<AnyObject> {
    return this.#one(
      // Without copies the list is nil, as in Karmada.
      {
        object: template,
        operation: 'AggregateStatus',
        args: [template, items.length > 0 ? items : undefined],
      },
      ([found], json) => readObject(json(found, [template]), template),
    )
  }

  async health(object: AnyObject) {
    return this.#one({ object, operation: 'InterpretHealth', args: [object] }, ([found], json) =>
      readHealth(json(found, [])),
    )
  }

  async dependencies(object: AnyObject) {
    const asked: Question = { object, operation: 'InterpretDependency', args: [object] }
    const lists = this.#scripts()
      .of(object, asked.operation)
      .map((script) =>
        this.#ask(script, asked, ([found], json) =>
          readDependencies(found === undefined ? undefined : (json(found, []) ?? [])),
        ),
      )
    return inOneOrder(lists.flat())
  }

  #one<Result>(asked: Question, read: ReadResults<Result>): Result {
    const { object, operation } = asked
    const [script] = this.#scripts().of(object, operation)
    if (script) return this.#ask(script, asked, read)
    throw new CustomizationError(
      `Cannot interpret ${object.kind}: no customization has ${operation}`,
    )
  }

  #ask<Result>(script: CustomScript, asked: Question, read: ReadResults<Result>): Result {
    const { object } = asked
    try {
      this.#budget.expectFree(script, object)
      return this.#call(script, asked, read)
    } catch (error) {
      const { namespace = '', name = '' } = object.metadata
      const what = `${script.rule} of ResourceInterpreterCustomization "${script.customization}" for ${object.kind} "${namespace}/${name}"`
      const why = error instanceof Error ? toText(error.message) : String(error)
      throw new CustomizationError(`Cannot run ${what}: ${why}`, { cause: error })
    }
  }

  #call<Result>(
    script: CustomScript,
    { object, operation, args }: Question,
    read: ReadResults<Result>,
  ): Result {
    const run = this.#libraries.startRun()
    let isOverrun = false
    try {
      return this.#ready(script.text).call(
        functionOf[operation] ?? operation,
        () => args.map((each) => luaOf(each, run)),
        (results) => read(results, (value, references) => jsonOf(value, references, run)),
        run,
      )
    } catch (error) {
      isOverrun = error instanceof LuaLimitError
      throw error
    } finally {
      this.#budget.charge(script, object, { used: run.used, isOverrun })
    }
  }

  #ready(text: string): LuaScript {
    const script = this.#read.get(text) ?? this.#readOnce(text)
    this.#read.set(text, script)
    if (script instanceof LuaError) throw script
    return script
  }

  /** Keeps the error of a script that cannot be parsed, so that it is not parsed again for each object. */
  #readOnce(text: string): LuaScript | LuaError {
    try {
      return readLuaScript(text, this.#libraries)
    } catch (error) {
      if (error instanceof LuaError) return error
      throw error
    }
  }
}

interface Question {
  readonly object: AnyObject
  readonly operation: InterpreterOperation
  readonly args: readonly unknown[]
}

type ToJson = (value: LuaValue, references: readonly unknown[]) => unknown
type ReadResults<Result> = (results: readonly LuaValue[], json: ToJson) => Result

/** The names of scripts' functions, where they differ from the operation's. */
const functionOf: Readonly<Partial<Record<InterpreterOperation, string>>> = Object.freeze({
  InterpretReplica: 'GetReplicas',
  InterpretComponent: 'GetComponents',
  InterpretStatus: 'ReflectStatus',
  InterpretDependency: 'GetDependencies',
})
