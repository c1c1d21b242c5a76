import type { Config, ServerConfig } from '../config/config.ts'
import { same } from './reload.ts'

/** Which servers go and which come from one configuration to the next; one that is reached otherwise does both. */
export function serverChanges(
  before: Config,
  after: Config,
): { readonly gone: readonly string[]; readonly come: readonly ServerConfig[] } {
  const core = ({ tools: _tools, asks: _asks, ...rest }: ServerConfig): object => rest
  const old = new Map(before.servers.map((it) => [it.spec.name, it]))
  // What it may ask for is offered to it when it is connected.
  const stays = (server: ServerConfig): boolean => {
    const known = old.get(server.spec.name)
    return known !== undefined && same(core(known), core(server)) && same(known.asks, server.asks)
  }
  const kept = new Set(after.servers.filter(stays).map((it) => it.spec.name))
  return {
    gone: before.servers.map((it) => it.spec.name).filter((name) => !kept.has(name)),
    come: after.servers.filter((it) => !kept.has(it.spec.name)),
  }
}
