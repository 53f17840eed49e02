import { nominal, traversalCost, traversing, type CelValue } from '@skerry/cel'

/** The costs of a function that makes an opaque value of a text, or looks whether it could: it reads the text once. */
export const parsing = Object.freeze({
  cost: ([text = null]: readonly CelValue[]): number => traversalCost(text),
  estimate: traversing(0),
  isCostByName: true,
})

/** The costs of a function that takes something out of an opaque value. */
export const accessing = Object.freeze({
  cost: (): number => 1,
  estimate: nominal,
  isCostByName: true,
})
