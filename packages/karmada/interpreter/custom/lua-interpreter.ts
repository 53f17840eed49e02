import type { AnyObject } from '@skerry/api'
import type { Clock } from '@skerry/base'
import {
  inOneOrder,
  readComponents,
  readDependencies,
  readHealth,
  readObject,
  readReplicas,
  readRequirements,
  readStatus,
} from '../interpreted-values.ts'
import { jsonOf, luaOf } from '../lua/lua-json.ts'
import { LuaLibraries } from '../lua/lua-libraries.ts'
import { osFunctions } from '../lua/lua-os-library.ts'
import { readLuaScript, type LuaScript } from '../lua/lua-script.ts'
import { LuaLimitError, toText, type LuaValue } from '../lua/lua-value.ts'
import type {
  InterpretedReplicas,
  InterpreterOperation,
  ResourceInterpreter,
} from '../resource-interpreter.ts'
import type { CustomScript, CustomScripts } from './customization.ts'
import { kubeFunctions } from './kube-library.ts'

export type LuaClock = Pick<Clock, 'now' | 'monotonicMs'>

/** A script has failed, or has given back what is no answer. */
export class CustomizationError extends Error {
  override name = 'CustomizationError'
}

/** Scripts that are ready to run; those of kinds that are not seen any more go. */
const scriptsKept = 200

/** For so long a script that took too much is not run again: a thousand objects would take it a thousand times. */
const restMs = 10_000

/**
 * Answers for the kinds that customizations are for, with their scripts. Each method rejects with a
 * CustomizationError when the script fails, takes too long, or when there is none.
 */
export class LuaInterpreter implements ResourceInterpreter {
  readonly #scripts: () => CustomScripts
  readonly #read = new Map<string, LuaScript>()

  readonly #clock: LuaClock
  readonly #libraries: LuaLibraries
  /** By script: until when, by the monotonic clock. */
  readonly #resting = new Map<string, number>()

  /** The scripts are asked for before each call: customizations come and go. */
  constructor(scripts: () => CustomScripts, clock: LuaClock) {
    this.#scripts = scripts
    this.#clock = clock
    this.#libraries = new LuaLibraries({
      globals: { os: osFunctions(clock) },
      modules: { kube: kubeFunctions },
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

  /** No script does that. */
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
      // With no copies there is no list, as in Karmada.
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
    const { object, operation, args } = asked
    try {
      this.#expectRested(script)
      return this.#ready(script.text).call(
        functionOf[operation] ?? operation,
        (run) => args.map((each) => luaOf(each, run)),
        (results, run) => read(results, (value, references) => jsonOf(value, references, run)),
      )
    } catch (error) {
      if (error instanceof LuaLimitError) this.#rest(script)
      const { namespace = '', name = '' } = object.metadata
      const what = `${script.rule} of ResourceInterpreterCustomization "${script.customization}" for ${object.kind} "${namespace}/${name}"`
      const why = error instanceof Error ? toText(error.message) : String(error)
      throw new CustomizationError(`Cannot run ${what}: ${why}`, { cause: error })
    }
  }

  #rest({ text }: CustomScript): void {
    if (this.#resting.size >= scriptsKept) this.#resting.clear()
    this.#resting.set(text, this.#clock.monotonicMs() + restMs)
  }

  #expectRested({ text }: CustomScript): void {
    const untilMs = this.#resting.get(text)
    if (untilMs === undefined) return
    if (this.#clock.monotonicMs() < untilMs) {
      throw new Error(`it took too much, and rests for ${restMs / 1000} s`)
    }
    this.#resting.delete(text)
  }

  #ready(text: string): LuaScript {
    const known = this.#read.get(text)
    const script = known ?? readLuaScript(text, this.#libraries)
    // The newest stands last.
    this.#read.delete(text)
    this.#read.set(text, script)
    const oldest = this.#read.keys().next().value
    if (this.#read.size > scriptsKept && oldest !== undefined) this.#read.delete(oldest)
    return script
  }
}

interface Question {
  readonly object: AnyObject
  readonly operation: InterpreterOperation
  readonly args: readonly unknown[]
}

type ToJson = (value: LuaValue, references: readonly unknown[]) => unknown
type ReadResults<Result> = (results: readonly LuaValue[], json: ToJson) => Result

/** What the function of each operation is called in a script. */
const functionOf: Readonly<Partial<Record<InterpreterOperation, string>>> = Object.freeze({
  InterpretReplica: 'GetReplicas',
  InterpretComponent: 'GetComponents',
  InterpretStatus: 'ReflectStatus',
  InterpretDependency: 'GetDependencies',
})
