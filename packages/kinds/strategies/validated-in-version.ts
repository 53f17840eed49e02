import type { Strategy, AnyObject } from '@skerry/api'

/**
 * Returns the strategy of a version with another shape. Objects are validated in the shape that
 * `convert` makes in place, so that causes name the same fields as upstream.
 */
export function validatedInVersion(
  strategy: Strategy,
  convert: (object: AnyObject) => void,
): Strategy {
  const converted = (object: AnyObject): AnyObject => {
    const copy = structuredClone(object)
    convert(copy)
    return copy
  }
  const { validate, validateForm, validateUpdate, validateStatusUpdate, warnings } = strategy
  return Object.freeze({
    ...strategy,
    ...(validate ? { validate: (object: AnyObject) => validate(converted(object)) } : {}),
    ...(validateForm ? { validateForm: (next: AnyObject) => validateForm(converted(next)) } : {}),
    ...(validateUpdate ? { validateUpdate: both(validateUpdate) } : {}),
    ...(validateStatusUpdate ? { validateStatusUpdate: both(validateStatusUpdate) } : {}),
    ...(warnings
      ? {
          warnings: (next: AnyObject, old?: AnyObject) =>
            warnings(converted(next), old && converted(old)),
        }
      : {}),
  })

  function both<T>(check: (next: AnyObject, old: AnyObject) => T) {
    return (next: AnyObject, old: AnyObject): T => check(converted(next), converted(old))
  }
}
