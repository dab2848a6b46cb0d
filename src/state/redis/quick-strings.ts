/**
 * Undoes what loading ioredis does to all strings of the process. It has a class that extends String; V8 then keeps
 * String.prototype as a dictionary until properties are looked up through an object that inherits from it. Until then no
 * `text.charCodeAt(at)` anywhere is compiled to what it could be: a request cost a fifth more.
 */

/** Look-ups after which V8 has certainly seen that the prototype is one. */
const LOOKUPS = 100;

const heir = Object.create(String.prototype) as string;
let length = 0;
for (let n = 0; n < LOOKUPS; n++) length += heir.length;
if (length !== 0) throw new Error('String.prototype has a length');
