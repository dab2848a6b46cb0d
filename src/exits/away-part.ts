/** Which exits are a gateway's that can ask nobody: by who was there last, or else by what is configured. */
import { partOf, rendezvous, type OwnerOf } from '../upstreams/shards.js';

/** The number of this gateway and of all, as configured; `index` null where only the number of all is. */
export interface FleetPlace {
  readonly index: number | null;
  readonly count: number;
}

/** The part of one gateway, decided anew with each outage. */
export class AwayPart {
  version = 0;
  #self = '';
  #ownerOf: OwnerOf | null = null;

  constructor(
    private readonly gatewayId: string,
    private readonly place: FleetPlace | null,
    private readonly members: () => readonly string[],
  ) {}

  /** The next question is decided anew. */
  forget(): void {
    this.#ownerOf = null;
    this.version++;
  }

  owns(exit: string): boolean {
    this.#ownerOf ??= this.#decided();
    return this.#ownerOf({ id: exit, index: 0 }) === this.#self;
  }

  #decided(): OwnerOf {
    const { gatewayId, place } = this;
    const members = this.members();
    const isNumbered = members.length === 0 && place !== null && place.index !== null;
    this.#self = isNumbered ? String(place.index) : gatewayId;
    if (isNumbered) return rendezvous(Array.from({ length: place.count }, (_, n) => String(n)));
    if (members.length > 0) return rendezvous(members);
    return place === null ? rendezvous([gatewayId]) : partOf(gatewayId, place.count);
  }
}
