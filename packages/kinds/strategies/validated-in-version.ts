import type { Strategy, AnyObject } from '@skerry/api'

/**
 * The strategy of a version that has another shape: what is checked is checked in the shape that
 * `convert` makes in place, so that causes name the fields that upstream names.
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
