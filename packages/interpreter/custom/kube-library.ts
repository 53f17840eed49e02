import {
  addQuantities,
  formatQuantity,
  isJsonObject,
  parseQuantity,
  quantityOf,
  quantityToFloat,
  QuantityError,
  type JsonObject,
  type Quantity,
} from '@skerry/api'
import { type LuaArguments, type LuaLibraryFunction, jsonOf, luaOf, toBytes } from '@skerry/lua'
import { dependenciesOf } from '../native/dependencies.ts'
import { podRequirements } from '../native/pod-requirements.ts'

/** The functions that `require("kube")` gives to scripts, as in Karmada. */
export const kubeFunctions: Readonly<Record<string, LuaLibraryFunction>> = Object.freeze({
  resourceAdd(args: LuaArguments) {
    // The work is paid for before it is done, in steps for each operand.
    args.run.step(quantitySteps * args.count)
    const quantities = args.values.map((_, index) => quantityAt(args, index))
    return formatQuantity(quantities.reduce(addQuantities, quantityOf(0)))
  },
  accuratePodRequirements(args: LuaArguments) {
    return luaOf(
      refusable(args, () => podRequirements(podSpecAt(args, 0))),
      args.run,
    )
  },
  getPodDependencies(args: LuaArguments) {
    const namespace = args.values[1] === undefined ? 'default' : args.text(1)
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace }, spec: podSpecAt(args, 0) }
    return luaOf(dependenciesOf(pod), args.run)
  },
  getResourceQuantity(args: LuaArguments) {
    args.run.step(quantitySteps)
    const amount = quantityToFloat(quantityAt(args, 0))
    if (amount < 0) throw args.error(0, 'a quantity of 0 or more expected')
    return amount
  },
})

/** The steps for each quantity, which is parsed exactly. */
const quantitySteps = 10

/** Returns the spec of a pod template. */
function podSpecAt(args: LuaArguments, index: number): JsonObject {
  const template = jsonOf(args.table(index), [], args.run)
  const spec = isJsonObject(template) ? template['spec'] : undefined
  return isJsonObject(spec) ? spec : {}
}

/** None is 0. */
function quantityAt(args: LuaArguments, index: number): Quantity {
  const text = args.values[index]
  if (text === undefined) return quantityOf(0)
  if (typeof text !== 'string') throw args.error(index, 'string expected')
  args.run.match(text.length)
  return refusable(args, () => parseQuantity(text))
}

/** Blames an error on the script, which names the line. */
function refusable<Result>({ run }: LuaArguments, act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error
    throw run.error(toBytes(error.message))
  }
}
