/**
 * Replaces $(NAME) by its value; $$ becomes one $, and an unknown name stays, as Kubernetes documents for
 * commands, arguments and environment values.
 */
export function expand(text: string, value: (name: string) => string | undefined): string {
  return text.replaceAll(/\$\$|\$\(([^)]*)\)/g, (matched: string, name: string | undefined) =>
    matched === '$$' ? '$' : (value(name ?? '') ?? matched),
  )
}
