/** Why one argument cannot become a scope. `because` is a plain clause for a person; it holds nothing of the argument. */
export interface Trouble {
  readonly code: 'SCOPE_UNREADABLE' | 'SCOPE_UNSAFE' | 'SCOPE_OUTSIDE'
  readonly because: string
}

export function unreadable(because: string): Trouble {
  return { code: 'SCOPE_UNREADABLE', because }
}

export function unsafe(because: string): Trouble {
  return { code: 'SCOPE_UNSAFE', because }
}

export function outside(because: string): Trouble {
  return { code: 'SCOPE_OUTSIDE', because }
}

export function isTrouble(value: object): value is Trouble {
  return 'because' in value
}
