/**
 * Settings of the JavaScript engine, made before any other module is loaded: import this one first.
 *
 * V8 moves allocations of code that looked long-lived at the start straight to the old generation. For a program that
 * makes a few dozen short-lived objects a request the guess is wrong, and dead old objects keep young ones alive: a
 * fifth of each young generation survived its collection (2 % without), and the collector took 10 of 60 µs a request.
 */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-allocation-site-pretenuring');
